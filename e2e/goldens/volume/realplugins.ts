/** What the real plugins of a kubelet and of each controller say of every kind of spec, and which of them the finders give. */
import type { Adapter, Answer, GoldenLine } from "@/e2e/goldens/adapter";
import { answerOf } from "@/e2e/goldens/answers";
import { checkedAgainstExplain } from "@/e2e/goldens/explained";
import { stillPorts } from "@/e2e/goldens/fake-plugin";
import { specOf, type GoldenSpec } from "@/e2e/goldens/golden-spec";
import { goldenCSIDrivers } from "@/e2e/goldens/kubelet-manager";
import type { CSIDriver } from "@/lib/kube/storage";
import { AttachDetachHost } from "@/server/hosts/attach-detach-host";
import { CSIDriverListingHost, expandControllerHost, persistentVolumeControllerHost } from "@/server/hosts/controller-hosts";
import { createMemoryHost, memoryLister } from "@/server/hosts/memory";
import type { VolumeHost } from "@/server/volume/host";
import { isNoopExpandablePlugin } from "@/server/volume/noop-expandable-plugin";
import { interfacesOf, isAttachablePlugin, isDeviceMountablePlugin, isPersistentPlugin, type VolumePlugin } from "@/server/volume/plugin";
import type { VolumePluginManager } from "@/server/volume/plugin-manager";
import { newControllerPlugins, newKubeletPlugins, type ControllerName } from "@/server/volume/plugins/index";
import { supportsSELinuxContextMount } from "@/server/volume/selinux";
import type { Spec } from "@/server/volume/spec";
import {
  getUniqueVolumeNameFromSpec,
  getUniqueVolumeNameFromSpecWithPod,
  isAttachableVolume,
  isDeviceMountableVolume,
} from "@/server/volume/unique-name";

type Finder = (manager: VolumePluginManager, spec: Spec | undefined) => Promise<VolumePlugin | undefined>;

const finders = {
  FindPluginBySpec: (manager, spec) => manager.findPluginBySpec(spec),
  FindPersistentPluginBySpec: (manager, spec) => manager.findPersistentPluginBySpec(spec),
  FindRecyclablePluginBySpec: (manager, spec) => manager.findRecyclablePluginBySpec(spec),
  FindDeletablePluginBySpec: (manager, spec) => manager.findDeletablePluginBySpec(spec),
  FindAttachablePluginBySpec: (manager, spec) => manager.findAttachablePluginBySpec(spec),
  FindDeviceMountablePluginBySpec: (manager, spec) => manager.findDeviceMountablePluginBySpec(spec),
  FindExpandablePluginBySpec: (manager, spec) => manager.findExpandablePluginBySpec(spec),
  FindMapperPluginBySpec: (manager, spec) => manager.findMapperPluginBySpec(spec),
  FindNodeExpandablePluginBySpec: (manager, spec) => manager.findNodeExpandablePluginBySpec(spec),
} as const satisfies Readonly<Record<string, Finder>>;

type FinderName = keyof typeof finders;

const attachFinders = ["FindPluginBySpec", "FindAttachablePluginBySpec", "FindDeviceMountablePluginBySpec"] as const;
const binderFinders = [
  "FindPluginBySpec",
  "FindPersistentPluginBySpec",
  "FindRecyclablePluginBySpec",
  "FindDeletablePluginBySpec",
] as const;
const expandFinders = ["FindPluginBySpec", "FindExpandablePluginBySpec"] as const;
const allFinders = Object.keys(finders) as readonly FinderName[];

export const adapter: Adapter = {
  async answer(line) {
    switch (line.fn) {
      case "csiDrivers":
        managers = newManagers((line.out ?? []) as readonly CSIDriver[]);
        return { out: (await managers).csiDrivers };
      case "pluginSet":
        return { out: pluginSet(String(line.in["set"])).map(describe) };
      case "nilSpec":
        return { out: { kubelet: await findAll((await theManagers()).kubelet, undefined, allFinders) } };
      default:
        return { out: await answersOf(line) };
    }
  },
};

const controllerNames: Readonly<Record<string, ControllerName>> = {
  attachDetach: "attachDetach",
  binder: "binder",
  expand: "expand",
  selinuxWarning: "seLinuxWarning",
};

function pluginSet(name: string): readonly VolumePlugin[] {
  const controller = controllerNames[name];
  return controller === undefined ? newKubeletPlugins() : newControllerPlugins(controller);
}

function describe(plugin: VolumePlugin): object {
  return {
    name: plugin.getPluginName(),
    interfaces: interfacesOf(plugin),
    supportsMountOption: plugin.supportsMountOption(),
    ...(isPersistentPlugin(plugin) && { accessModes: plugin.getAccessModes() }),
    ...("requiresFSResize" in plugin && typeof plugin.requiresFSResize === "function" && { requiresFSResize: plugin.requiresFSResize() }),
  };
}

interface Managers {
  readonly csiDrivers: readonly CSIDriver[];
  readonly kubelet: VolumePluginManager;
  readonly kubeletPlugins: readonly VolumePlugin[];
  readonly standalone: VolumePluginManager;
  readonly attachDetach: VolumePluginManager;
  readonly binder: VolumePluginManager;
  readonly expand: VolumePluginManager;
  readonly seLinuxWarning: VolumePluginManager;
}

/** Of the objects that the file's own line names; nothing that is asked changes a manager. */
let managers: Promise<Managers> | undefined;

function theManagers(): Promise<Managers> {
  managers ??= newManagers(goldenCSIDrivers());
  return managers;
}

async function newManagers(csiDrivers: readonly CSIDriver[]): Promise<Managers> {
  const memory = createMemoryHost({ csiDrivers });
  const { ports, kubeClient } = memory;
  const csiDriverLister = memoryLister("csidriver.storage.k8s.io", csiDrivers);
  const kubeletPlugins = newKubeletPlugins();
  return {
    csiDrivers,
    kubeletPlugins,
    kubelet: await managerOf(kubeletPlugins, memory.host),
    standalone: await managerOf(newKubeletPlugins(), createMemoryHost({ noKubeClient: true }).host),
    attachDetach: await managerOf(newControllerPlugins("attachDetach"), new AttachDetachHost({ ports, kubeClient, csiDriverLister })),
    binder: await managerOf(newControllerPlugins("binder"), persistentVolumeControllerHost({ ports, kubeClient })),
    expand: await managerOf(newControllerPlugins("expand"), expandControllerHost({ ports, kubeClient })),
    seLinuxWarning: await managerOf(
      newControllerPlugins("seLinuxWarning"),
      new CSIDriverListingHost({ ports, kubeClient }, csiDriverLister),
    ),
  };
}

async function managerOf(plugins: readonly VolumePlugin[], host: VolumeHost): Promise<VolumePluginManager> {
  const manager = checkedAgainstExplain(stillPorts);
  await manager.initPlugins(plugins, undefined, host);
  return manager;
}

async function answersOf(line: GoldenLine): Promise<object> {
  const { spec: golden, podUID } = line.in as { readonly spec: GoldenSpec; readonly podUID: string };
  const spec = specOf(golden);
  if (!spec) throw new Error("a nil spec");
  const all = await theManagers();
  const { kubelet, seLinuxWarning } = all;
  const supporting = all.kubeletPlugins.filter((plugin) => plugin.canSupport(spec));
  // The line says whether every plugin was asked, or only those that support the spec; and whether a kubelet without an API was.
  const asked = line.out as { readonly plugins: object; readonly standalone?: object };
  const isAskedOfAll = Object.keys(asked.plugins).length === all.kubeletPlugins.length;
  return {
    kubelet: await findAll(kubelet, spec, allFinders),
    attachDetach: await findAll(all.attachDetach, spec, attachFinders),
    binder: await findAll(all.binder, spec, binderFinders),
    expand: await findAll(all.expand, spec, expandFinders),
    selinuxWarning: {
      ...(await findAll(seLinuxWarning, spec, ["FindPluginBySpec"])),
      supportsSELinuxContextMount: beside(false, await answerOf(() => supportsSELinuxContextMount(spec, seLinuxWarning))),
    },
    canSupport: supporting.map((plugin) => plugin.getPluginName()),
    plugins: await byName(isAskedOfAll ? all.kubeletPlugins : supporting, (plugin) => saysOf(plugin, spec)),
    isAttachableVolume: await answerOf(() => isAttachableVolume(spec, kubelet)),
    isDeviceMountableVolume: await answerOf(() => isDeviceMountableVolume(spec, kubelet)),
    ...(await uniqueNames(kubelet, spec, podUID)),
    ...(asked.standalone && (await standaloneAnswers(all.standalone, spec))),
  };
}

async function findAll(manager: VolumePluginManager, spec: Spec | undefined, names: readonly FinderName[]): Promise<object> {
  const entries = names.map(async (name) => [name, await answerOf(() => find(name))] as const);
  return Object.fromEntries(await Promise.all(entries));

  async function find(name: FinderName): Promise<unknown> {
    const plugin = await finders[name](manager, spec);
    if (!plugin) return null;
    return isNoopExpandablePlugin(plugin) ? { name: plugin.getPluginName(), noop: true } : plugin.getPluginName();
  }
}

async function byName(plugins: readonly VolumePlugin[], ask: (plugin: VolumePlugin) => Promise<object>): Promise<object> {
  return Object.fromEntries(await Promise.all(plugins.map(async (plugin) => [plugin.getPluginName(), await ask(plugin)] as const)));
}

async function saysOf(plugin: VolumePlugin, spec: Spec): Promise<object> {
  return {
    canSupport: { out: plugin.canSupport(spec) },
    volumeName: beside("", await answerOf(() => plugin.getVolumeName(spec))),
    ...(await mountAnswers(plugin, spec)),
    ...(isAttachablePlugin(plugin) && { canAttach: beside(false, await answerOf(() => plugin.canAttach(spec))) }),
    ...(isDeviceMountablePlugin(plugin) && { canDeviceMount: beside(false, await answerOf(() => plugin.canDeviceMount(spec))) }),
  };
}

async function mountAnswers(plugin: VolumePlugin, spec: Spec): Promise<object> {
  return {
    requiresRemount: await answerOf(() => plugin.requiresRemount(spec)),
    supportsSELinuxContextMount: beside(false, await answerOf(() => plugin.supportsSELinuxContextMount(spec))),
  };
}

async function uniqueNames(kubelet: VolumePluginManager, spec: Spec, podUID: string): Promise<object> {
  const plugin = await kubelet.findPluginBySpec(spec).catch(() => undefined);
  if (!plugin) return {};
  return {
    uniqueVolumeName: beside("", await answerOf(() => getUniqueVolumeNameFromSpec(plugin, spec))),
    uniqueVolumeNameWithPod: await answerOf(() => getUniqueVolumeNameFromSpecWithPod(podUID, plugin, spec)),
  };
}

async function standaloneAnswers(standalone: VolumePluginManager, spec: Spec): Promise<object> {
  return {
    standalone: await findAll(standalone, spec, attachFinders),
    standaloneCSI: await mountAnswers(await standalone.findPluginByName("kubernetes.io/csi"), spec),
  };
}

/** What Go returns beside an error. */
function beside(value: unknown, answer: Answer): Answer {
  return answer.err === undefined ? answer : { ...answer, out: value };
}
