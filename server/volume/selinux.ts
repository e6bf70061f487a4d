/** SELinux labels of volumes. Source: pkg/volume/util/selinux.go of v1.37.2. */
import { isErrorNamed, messageOf } from "@/lib/errors";
import { goQuote } from "@/lib/go-text";
import { compareText } from "@/lib/names";
import type { PodSecurityContext, SELinuxOptions } from "@/lib/kube/pods";
import { VolumeError } from "@/server/volume/errors";
import type { VolumePluginManager } from "@/server/volume/plugin-manager";
import type { Spec } from "@/server/volume/spec";

/** Makes labels of options as the node's SELinux policy would. */
export interface SELinuxLabelTranslator {
  selinuxEnabled(): boolean;
  /** The label of files that a container with these options may use; "" when there are none. Throws when the policy refuses. */
  optionsToFileLabel(options: SELinuxOptions | undefined): string;
}

/** A translator without a policy: what a file of such a container is called on a stock system. */
export const fixedTranslator: SELinuxLabelTranslator = {
  selinuxEnabled: () => true,
  optionsToFileLabel(options) {
    if (!options) return "";
    // A container runs in a domain; its files have a type of their own.
    const type = !options.type || options.type === "container_t" ? "container_file_t" : options.type;
    return [options.user || "system_u", options.role || "object_r", type, options.level || "s0:c998,c999"].join(":");
  },
};

export interface SELinuxLabelInfo {
  /** For `-o context=`; "" when the volume is not to be mounted with one. */
  readonly mountLabel: string;
  /** The label that the containers agree on, whether or not it is used for the mount. */
  readonly processLabel: string;
  readonly pluginSupportsContextMount: boolean;
}

/** Containers of one pod that want different labels for one volume. `info` is what was known by then. */
export class MultipleSELinuxLabelsError extends VolumeError {
  readonly labels: readonly string[];
  readonly info: SELinuxLabelInfo;

  constructor(labels: readonly string[], info: SELinuxLabelInfo) {
    super(`multiple SELinux labels found: ${labels.join(",")}`);
    this.name = "MultipleSELinuxLabelsError";
    this.labels = labels;
    this.info = info;
  }
}

export function isMultipleSELinuxLabels(error: unknown): error is MultipleSELinuxLabelsError {
  return isErrorNamed(error, "MultipleSELinuxLabelsError");
}

export interface LabelQuestion {
  readonly spec: Spec;
  /** The SELinux options of each container that uses the volume. */
  readonly containerOptions: readonly (SELinuxOptions | undefined)[];
  readonly podSecurityContext: PodSecurityContext | undefined;
}

/** The label a volume is to be mounted with. Throws MultipleSELinuxLabelsError, labels sorted. */
export async function getMountSELinuxLabel(
  { spec, containerOptions, podSecurityContext }: LabelQuestion,
  manager: VolumePluginManager,
  translator: SELinuxLabelTranslator,
): Promise<SELinuxLabelInfo> {
  const nothing = { mountLabel: "", processLabel: "", pluginSupportsContextMount: false };
  if (!translator.selinuxEnabled()) return nothing;
  const pluginSupportsContextMount = await supportsSELinuxContextMount(spec, manager);
  const info = { ...nothing, pluginSupportsContextMount };
  const labels = [...new Set(containerOptions.map((options) => labelOf(options, translator)))].sort(compareText);
  if (labels.length > 1) throw new MultipleSELinuxLabelsError(labels, info);
  const processLabel = labels[0] ?? "";
  const recursive = podSecurityContext?.seLinuxChangePolicy === "Recursive";
  return { ...info, processLabel, mountLabel: pluginSupportsContextMount && !recursive ? processLabel : "" };
}

function labelOf(options: SELinuxOptions | undefined, translator: SELinuxLabelTranslator): string {
  try {
    return translator.optionsToFileLabel(options);
  } catch (error) {
    throw new VolumeError(`failed to construct SELinux label from context ${goQuote(JSON.stringify(options))}: ${messageOf(error)}`);
  }
}

/** A volume that no plugin serves supports nothing. */
export async function supportsSELinuxContextMount(spec: Spec, manager: VolumePluginManager): Promise<boolean> {
  const plugin = await manager.findPluginBySpec(spec).catch(() => undefined);
  return plugin ? plugin.supportsSELinuxContextMount(spec) : false;
}

/** With gate SELinuxMount, on by default in 1.37: every persistent volume, and no volume that a pod writes out itself. */
export function volumeSupportsSELinuxMount(spec: Spec | undefined): boolean {
  return Boolean(spec?.persistentVolume);
}

/** Quoted, since a level has commas. */
export function addSELinuxMountOption(options: readonly string[], context: string): string[] {
  return [...options, `context=${goQuote(context)}`];
}
