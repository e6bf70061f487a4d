/** Mount options of volumes. Source: pkg/volume/util/util.go (JoinMountOptions, MountOptionFromSpec) of v1.37.2. */
import { compareText } from "@/lib/names";
import { VolumeError } from "@/server/volume/errors";
import type { VolumePlugin } from "@/server/volume/plugin";
import type { Spec } from "@/server/volume/spec";

/** The beta annotation, which wins over the field. */
const mountOptionAnnotation = "volume.beta.kubernetes.io/mount-options";

/** Each option once, in order; empty options of the user are dropped, those of the system kept. */
export function joinMountOptions(userOptions: readonly string[], systemOptions: readonly string[]): string[] {
  const user = userOptions.filter((option) => option !== "");
  return [...new Set([...user, ...systemOptions])].sort(compareText);
}

/** The options a persistent volume asks for, joined with the given ones; only the given ones, as they stand, when it asks for none. */
export function mountOptionFromSpec(spec: Spec, ...options: readonly string[]): string[] {
  const volume = spec.persistentVolume;
  const annotations = volume?.metadata.annotations ?? {};
  if (Object.hasOwn(annotations, mountOptionAnnotation)) {
    return joinMountOptions((annotations[mountOptionAnnotation] ?? "").split(","), options);
  }
  const wanted = volume?.spec.mountOptions ?? [];
  return wanted.length > 0 ? joinMountOptions(wanted, options) : [...options];
}

/** Whether the options a persistent volume asks for can be used at all. Throws VolumeError with the text of the node's check. */
export function checkMountOptionSupport(spec: Spec, plugin: Pick<VolumePlugin, "supportsMountOption">): void {
  if (mountOptionFromSpec(spec).length > 0 && !plugin.supportsMountOption()) {
    throw new VolumeError("mount options are not supported for this volume type");
  }
}
