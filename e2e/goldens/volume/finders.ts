import type { Adapter, Answer } from "@/e2e/goldens/adapter";
import { answerOf } from "@/e2e/goldens/answers";
import {
  FakeRecord,
  fakePlugin,
  fakeProber,
  instanceOf,
  stillPorts,
  type FakePluginInput,
  type FakeProberInput,
} from "@/e2e/goldens/fake-plugin";
import { checkedAgainstExplain } from "@/e2e/goldens/explained";
import { specOf, type GoldenSpec } from "@/e2e/goldens/golden-spec";
import { parseQuantity } from "@/lib/quantity";
import { messageOf } from "@/lib/errors";
import { isNoopExpandablePlugin, type NoopExpandableVolumePlugin } from "@/server/volume/noop-expandable-plugin";
import { interfacesOf, type VolumePlugin } from "@/server/volume/plugin";
import type { VolumePluginManager } from "@/server/volume/plugin-manager";
import { newSpecFromVolume, type Spec } from "@/server/volume/spec";

interface Step {
  readonly find: string;
  readonly spec?: GoldenSpec | null;
  readonly name?: string;
}

interface Input {
  readonly static?: readonly FakePluginInput[];
  readonly prober?: FakeProberInput | null;
  readonly steps?: readonly Step[];
}

type Finder = (manager: VolumePluginManager, spec: Spec | undefined, name: string) => Promise<VolumePlugin | undefined>;

const finders: Readonly<Record<string, Finder>> = {
  FindPluginBySpec: (manager, spec) => manager.findPluginBySpec(spec),
  FindPluginByName: (manager, _spec, name) => manager.findPluginByName(name),
  FindPersistentPluginBySpec: (manager, spec) => manager.findPersistentPluginBySpec(spec),
  FindPersistentPluginByName: (manager, _spec, name) => manager.findPersistentPluginByName(name),
  FindRecyclablePluginBySpec: (manager, spec) => manager.findRecyclablePluginBySpec(spec),
  FindProvisionablePluginByName: (manager, _spec, name) => manager.findProvisionablePluginByName(name),
  FindDeletablePluginBySpec: (manager, spec) => manager.findDeletablePluginBySpec(spec),
  FindDeletablePluginByName: (manager, _spec, name) => manager.findDeletablePluginByName(name),
  FindAttachablePluginBySpec: (manager, spec) => manager.findAttachablePluginBySpec(spec),
  FindAttachablePluginByName: (manager, _spec, name) => manager.findAttachablePluginByName(name),
  FindDeviceMountablePluginBySpec: (manager, spec) => manager.findDeviceMountablePluginBySpec(spec),
  FindDeviceMountablePluginByName: (manager, _spec, name) => manager.findDeviceMountablePluginByName(name),
  FindExpandablePluginBySpec: (manager, spec) => manager.findExpandablePluginBySpec(spec),
  FindExpandablePluginByName: (manager, _spec, name) => manager.findExpandablePluginByName(name),
  FindMapperPluginBySpec: (manager, spec) => manager.findMapperPluginBySpec(spec),
  FindMapperPluginByName: (manager, _spec, name) => manager.findMapperPluginByName(name),
  FindNodeExpandablePluginBySpec: (manager, spec) => manager.findNodeExpandablePluginBySpec(spec),
  FindNodeExpandablePluginByName: (manager, _spec, name) => manager.findNodeExpandablePluginByName(name),
};

export const adapter: Adapter = {
  async answer(line) {
    const input: Input = line.in;
    const record = new FakeRecord();
    const manager = checkedAgainstExplain(stillPorts);
    const prober = input.prober ? fakeProber(input.prober, record) : undefined;
    const plugins = (input.static ?? []).map((plugin) => fakePlugin(plugin, record));
    const failed = await manager.initPlugins(plugins, prober, undefined).then(
      () => ({}),
      (error: unknown) => ({ err: messageOf(error) }),
    );
    const init = { ...failed, ...countsOf(record, prober !== undefined, true) };
    const steps: unknown[] = [];
    for (const step of input.steps ?? []) {
      const answer = await take(manager, step);
      steps.push({ ...answer, ...countsOf(record, prober !== undefined, false) });
    }
    return { out: { init, steps } };
  },
};

/** `probes` is there when there is a prober, `inits` during a step only when there were some. */
function countsOf(record: FakeRecord, hasProber: boolean, always: boolean): Record<string, unknown> {
  const { inits, probes } = record.take();
  return {
    ...((always || inits.length > 0) && { inits: inits.map(({ inst }) => inst) }),
    ...(hasProber && { probes }),
  };
}

function take(manager: VolumePluginManager, step: Step): Promise<Answer> {
  return answerOf(async () => {
    const finder = finders[step.find];
    if (!finder) throw new Error(`no finder is called ${step.find}`);
    const spec = specOf(step.spec);
    const plugin = await finder(manager, spec, step.name ?? "");
    if (!plugin) return null;
    return isNoopExpandablePlugin(plugin) ? noopRecord(plugin, spec) : { inst: instanceOf(plugin), name: plugin.getPluginName() };
  });
}

async function noopRecord(plugin: NoopExpandableVolumePlugin, spec: Spec | undefined): Promise<Record<string, unknown>> {
  const other = newSpecFromVolume({ name: "other" });
  const grown = await plugin.expandVolumeDevice(other, parseQuantity("2Gi"));
  return {
    noop: true,
    name: plugin.getPluginName(),
    canSupport: plugin.canSupport(),
    requiresRemount: await plugin.requiresRemount(),
    supportsMountOption: plugin.supportsMountOption(),
    requiresFSResize: plugin.requiresFSResize(),
    volumeName: await plugin.getVolumeName(),
    interfaces: interfacesOf(plugin),
    initErr: await plugin.init().then(() => false, () => true),
    supportsSELinuxContextMount: [await plugin.supportsSELinuxContextMount(), true],
    newMounterIsNil: (await plugin.newMounter()) === undefined,
    newUnmounterIsNil: (await plugin.newUnmounter()) === undefined,
    constructsOwnSpec: (await plugin.constructVolumeSpec()).spec === spec,
    expandFrom1GiTo2Gi: [grown.toString(), true],
  };
}
