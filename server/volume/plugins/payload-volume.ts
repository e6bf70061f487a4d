/**
 * What configMap, secret, downwardAPI and projected volumes share: an emptyDir whose content is written at once and anew whenever the data
 * changes. Source: SetUpAt of pkg/volume/{configmap,secret,downwardapi,projected} of v1.37.2.
 */
import type { Pod } from "@/lib/kube/pods";
import type { Volume, VolumeSource } from "@/lib/kube/volumes";
import { type Payload, writeAtomically } from "@/server/volume/atomic-writer";
import { nilDereference } from "@/server/volume/errors";
import type { VolumeHost } from "@/server/volume/host";
import { newCachedMetrics, newMetricsDu } from "@/server/volume/metrics";
import { makeNestedMountpoints } from "@/server/volume/nested-mountpoints";
import type { VolumePlugin } from "@/server/volume/plugin";
import { type HostSlot, podVolumeDir } from "@/server/volume/plugins/host-slot";
import { newSpecFromVolume, specName, type Spec } from "@/server/volume/spec";
import type { Mounter, MounterArgs, Unmounter } from "@/server/volume/volume";
import { setVolumeOwnership } from "@/server/volume/volume-ownership";

/** One of the four kinds. `Source` is its part of the volume. */
export interface PayloadKind<Source> {
  readonly pluginName: string;
  readonly field: "configMap" | "secret" | "downwardAPI" | "projected";
  /** Throws VolumeError when the spec has no such source. */
  sourceOf(spec: Spec): Source;
  volumeName(spec: Spec, source: Source): string;
  /** What lies under the files: the node's disk, or memory. */
  readonly medium: "" | "Memory";
  /** Throws when something is missing that is not optional; then nothing is on disk. */
  collect(volume: PayloadVolume<Source>, args: MounterArgs): Promise<Payload>;
  /** All that is known of a volume found on disk. */
  reconstructed(volumeName: string): VolumeSource;
  afterTearDown?(host: VolumeHost, podUID: string): void;
}

export interface PayloadVolume<Source> {
  readonly host: VolumeHost;
  readonly name: string;
  readonly source: Source;
  readonly pod: Pod;
}

export function newPayloadPlugin<Source>(kind: PayloadKind<Source>, { init, host }: HostSlot): VolumePlugin {
  return {
    init,
    getPluginName: () => kind.pluginName,
    decidingField: kind.field,
    sources: { volume: [kind.field] },
    about: { kind: "in-tree" },
    getVolumeName: async (spec) => kind.volumeName(spec, kind.sourceOf(spec)),
    canSupport: (spec) => spec.volume?.[kind.field] !== undefined,
    requiresRemount: async () => true,
    supportsMountOption: () => false,
    supportsSELinuxContextMount: async () => false,
    newMounter: async (spec, pod) => {
      const source = kind.sourceOf(spec);
      if (!pod) throw nilDereference("pod");
      return newMounter(kind, { host: host(), name: specName(spec), source, pod });
    },
    newUnmounter: async (name, podUID) => newUnmounter(kind, { host: host(), name, podUID }),
    constructVolumeSpec: async (volumeName) => ({
      spec: newSpecFromVolume({ name: volumeName, ...kind.reconstructed(volumeName) }),
      seLinuxMountContext: "",
    }),
  } satisfies VolumePlugin;
}

function newMounter<Source>(kind: PayloadKind<Source>, volume: PayloadVolume<Source>): Mounter {
  const { host, name, pod } = volume;
  const path = podVolumeDir(host, kind.pluginName, { podUID: pod.metadata.uid ?? "", name });
  return {
    getPath: () => path,
    getMetrics: newCachedMetrics(newMetricsDu(host.ports, path)).getMetrics,
    getAttributes: () => ({ readOnly: true, managed: true, seLinuxRelabel: true }),
    setUp: (args) => setUpAt(path, args),
    setUpAt,
  };

  async function setUpAt(dir: string, args: MounterArgs): Promise<void> {
    const wrapped = await host.newWrapperMounter(name, wrapperSpec(kind, name), pod);
    const payload = await kind.collect(volume, args);
    await wrapped.setUpAt(dir, args);
    await makeNestedMountpoints(host.ports.files, { name, dir, pod });
    try {
      await writeAtomically(host.ports, {
        targetDir: dir,
        payload,
        setPermissions: () => setVolumeOwnership(host, { dir, fsGroup: args.fsGroup, readOnly: true }),
      });
    } catch (error) {
      await newUnmounter(kind, { host, name, podUID: pod.metadata.uid ?? "" })
        .tearDown()
        .catch((cause: unknown) => host.ports.log.error("could not tear down a volume that failed to set up", cause, { dir }));
      throw error;
    }
  }
}

function newUnmounter<Source>(kind: PayloadKind<Source>, volume: { host: VolumeHost; name: string; podUID: string }): Unmounter {
  const { host, name, podUID } = volume;
  const path = podVolumeDir(host, kind.pluginName, { podUID, name });
  const tearDownAt = async (dir: string): Promise<void> => {
    const wrapped = await host.newWrapperUnmounter(name, wrapperSpec(kind, name), podUID);
    await wrapped.tearDownAt(dir);
    kind.afterTearDown?.(host, podUID);
  };
  return {
    getPath: () => path,
    getMetrics: newCachedMetrics(newMetricsDu(host.ports, path)).getMetrics,
    tearDown: () => tearDownAt(path),
    tearDownAt,
  };
}

/** The host gives it the name that wrappers have. */
function wrapperSpec<Source>(kind: PayloadKind<Source>, name: string): Spec {
  const volume: Volume = { name, emptyDir: kind.medium === "" ? {} : { medium: kind.medium } };
  return newSpecFromVolume(volume);
}
