/**
 * What the kubelet says about volume operations: texts and event reasons, word for word.
 * Source: pkg/volume/util/operationexecutor/operation_generator.go and pkg/volume/util/types (GenerateMsg, GenerateError),
 * pkg/kubelet/events/event.go of v1.37.2.
 */
import { codeOf, isErrorNamed, messageOf } from "@/lib/errors";
import { goQuote } from "@/lib/go-text";

/** A failed step of an operation, with the reason of its event; null: the kubelet only logs it. */
export const failureReasons = {
  "AttachVolume.FindAttachablePluginBySpec failed": "FailedAttachVolume",
  "AttachVolume.NewAttacher failed": "FailedAttachVolume",
  "AttachVolume.Attach failed": "FailedAttachVolume",
  "Waiting for detach": "FailedAttachVolume",
  "MountVolume.FindPluginBySpec failed": "FailedMount",
  "MountVolume.NodeAffinity check failed": "FailedMount",
  "MountVolume.NewMounter initialization failed": "FailedMount",
  "MountVolume.MountOptionSupport check failed": "FailedMount",
  "MountVolume.WaitForAttach failed": "FailedMount",
  "MountVolume.GetDeviceMountPath failed": "FailedMount",
  "MountVolume.MountDevice failed": "FailedMount",
  "MountVolume.SetUp failed": "FailedMount",
  "MountVolume.Setup failed while expanding volume": "FailedMount",
  "MapVolume.NodeAffinity check failed": "FailedMapVolume",
  "MapVolume.FindMapperPluginBySpec failed": "FailedMapVolume",
  "MapVolume.NewBlockVolumeMapper initialization failed": "FailedMapVolume",
  "MapVolume.WaitForAttach failed": "FailedMapVolume",
  "MapVolume.SetUpDevice failed": "FailedMapVolume",
  "MapVolume.GetGlobalMapPath failed": "FailedMapVolume",
  "MapVolume.MapPodDevice failed": "FailedMapVolume",
  "MapVolume.MapBlockVolume failed": "FailedMapVolume",
  "NodeExpandVolume.NodeExpandVolume failed": "VolumeResizeFailed",
  "UnmountVolume.TearDown failed": null,
  "UnmountDevice failed": null,
  "UnmapVolume.UnmapPodDevice failed": null,
  "UnmapDevice.TearDownDevice failed": null,
  "DetachVolume.Detach failed": null,
} as const;

export type FailurePrefix = keyof typeof failureReasons;

export const successReasons = {
  "AttachVolume.Attach succeeded": "SuccessfulAttachVolume",
  "MapVolume.MapPodDevice succeeded": "SuccessfulMountVolume",
  "MountVolume.NodeExpandVolume succeeded": "FileSystemResizeSuccessful",
} as const;

export type SuccessPrefix = keyof typeof successReasons;

/** `<prefix> for volume "<name>" <suffix>`; a text without a suffix ends in the space before it, as the kubelet's does. */
export function operationMessage(prefix: FailurePrefix | SuccessPrefix, specName: string, suffix = ""): string {
  return `${prefix} for volume ${goQuote(specName)} ${suffix}`;
}

/** A step that failed: `message` is the kubelet's whole text, `code` is the cause's. */
export class OperationFailure extends Error {
  readonly prefix: FailurePrefix;
  readonly code: string | undefined;

  constructor(prefix: FailurePrefix, specName: string, cause: unknown) {
    super(operationMessage(prefix, specName, `: ${messageOf(cause)}`), { cause });
    this.name = "OperationFailure";
    this.prefix = prefix;
    this.code = codeOf(cause);
  }
}

export function isOperationFailure(error: unknown): error is OperationFailure {
  return isErrorNamed(error, "OperationFailure");
}

/** Runs a step; whatever it throws becomes its failure. */
export async function step<T>(prefix: FailurePrefix, specName: string, run: () => T | Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw new OperationFailure(prefix, specName, error);
  }
}

/** The text of the event on a pod whose volumes could not even be processed. `volumes` are names in the pod's spec, sorted here. */
export function unprocessedMessage(volumes: { readonly unmounted: readonly string[]; readonly unprocessed: readonly string[] }, errors: readonly string[]): string {
  const list = (names: readonly string[]) => `[${[...names].sort().join(" ")}]`;
  const which = `unmounted volumes=${list(volumes.unmounted)}, unattached volumes=[], failed to process volumes=${list(volumes.unprocessed)}`;
  return `Unable to attach or mount volumes: ${which}: ${errors.join("; ")}`;
}
