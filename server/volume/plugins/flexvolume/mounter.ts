/** Mounting into pods. Source: pkg/volume/flexvolume/{mounter,mounter-defaults,unmounter,unmounter-defaults}.go of v1.37.2. */
import type { Pod } from "@/lib/kube/pods";
import { nilDereference } from "@/server/volume/errors";
import type { VolumeHost } from "@/server/volume/host";
import { metricsNil, newMetricsStatFS } from "@/server/volume/metrics";
import { cleanupMountPoint, cleanupTools } from "@/server/volume/mount-cleanup";
import { escapeQualifiedName } from "@/server/volume/paths";
import { isMountedOrMakeDir, mounterOf } from "@/server/volume/plugins/bind-mount";
import { isCommandNotSupported } from "@/server/volume/plugins/flexvolume/driver-status";
import { flexVolumeOf, optionsArgument, podOptions, secretOptions } from "@/server/volume/plugins/flexvolume/flex-spec";
import { isPathThere, removeLeftover, removeQuietly } from "@/server/volume/plugins/flexvolume/leftovers";
import type { FlexVolumeCore } from "@/server/volume/plugins/flexvolume/plugin";
import { specName, type Spec } from "@/server/volume/spec";
import type { MountedPath, Mounter, MounterArgs, Unmounter } from "@/server/volume/volume";
import { setVolumeOwnership } from "@/server/volume/volume-ownership";

/** Throws VolumeError when the spec is of another kind. */
export function newMounter(core: FlexVolumeCore, spec: Spec, pod: Pod | undefined): Mounter {
  const { source, readOnly } = flexVolumeOf(spec);
  if (!pod) throw nilDereference("pod");
  const host = core.host();
  const path = podVolumeDir(host, source.driver, { podUID: pod.metadata.uid ?? "", name: specName(spec) });
  const setUpAt = (dir: string, args: MounterArgs): Promise<void> => setUp(core, { spec, pod, dir, args });
  return {
    ...mountedPath(core, host, path),
    getAttributes: () => ({ readOnly, managed: !readOnly, seLinuxRelabel: core.capabilities.selinuxRelabel }),
    setUp: (args) => setUpAt(path, args),
    setUpAt,
  };
}

interface SetUp {
  readonly spec: Spec;
  readonly pod: Pod;
  readonly dir: string;
  readonly args: MounterArgs;
}

async function setUp(core: FlexVolumeCore, { spec, pod, dir, args }: SetUp): Promise<void> {
  const host = core.host();
  if (await isMountedOrMakeDir(host, dir)) return;
  try {
    const options = podOptions(pod);
    for (const [key, value] of await secretOptions(host, spec, pod.metadata.namespace ?? "")) options.set(key, value);
    if (args.fsGroup !== undefined) options.set("kubernetes.io/mounterArgs.FsGroup", String(args.fsGroup));
    await mount(core, spec, { dir, options });
  } catch (error) {
    await removeQuietly(host, dir);
    throw error;
  }
  const { readOnly } = flexVolumeOf(spec);
  if (readOnly || !core.capabilities.fsGroup) return;
  const { fsGroup, fsGroupChangePolicy } = args;
  try {
    await setVolumeOwnership(host, { dir, fsGroup, fsGroupChangePolicy, readOnly });
  } catch (error) {
    host.ports.log.error("could not give a FlexVolume to its group", error, { path: dir });
  }
}

/** A driver without the command has its device mounted already: the pod's folder is bound to that. */
async function mount(core: FlexVolumeCore, spec: Spec, to: { readonly dir: string; readonly options: ReadonlyMap<string, string> }): Promise<void> {
  try {
    await core.driver.call("mount", [to.dir, ...optionsArgument(spec, to.options)]);
  } catch (error) {
    if (!isCommandNotSupported(error)) throw error;
    const source = await core.deviceMountPath(spec);
    await mounterOf(core.host()).mount({ source, target: to.dir, fsType: "auto", options: ["bind"] });
  }
}

export function newUnmounter(core: FlexVolumeCore, volumeName: string, podUID: string): Unmounter {
  const host = core.host();
  const path = podVolumeDir(host, core.driverName, { podUID, name: volumeName });
  const tearDownAt = (dir: string): Promise<void> => tearDown(core, dir);
  return { ...mountedPath(core, host, path), tearDown: () => tearDownAt(path), tearDownAt };
}

async function tearDown(core: FlexVolumeCore, dir: string): Promise<void> {
  const host = core.host();
  // A folder that can't be looked at may well be a mount whose server is gone: the driver is asked.
  const there = await isPathThere(host, dir).catch((error: unknown) => {
    host.ports.log.error("could not look at a folder before unmounting", error, { path: dir });
    return true;
  });
  if (!there) return;
  try {
    await core.driver.call("unmount", [dir]);
  } catch (error) {
    if (!isCommandNotSupported(error)) throw error;
    await cleanupMountPoint(cleanupTools(host), dir, { extensive: false });
  }
  await removeLeftover(host, dir);
}

function podVolumeDir(host: VolumeHost, driverName: string, of: { readonly podUID: string; readonly name: string }): string {
  return host.getPodVolumeDir(of.podUID, escapeQualifiedName(driverName), of.name);
}

function mountedPath(core: FlexVolumeCore, host: VolumeHost, path: string): MountedPath {
  const metrics = core.capabilities.supportsMetrics ? newMetricsStatFS(host.ports, path) : metricsNil;
  return { getPath: () => path, getMetrics: () => metrics.getMetrics() };
}
