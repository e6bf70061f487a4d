/**
 * SafeFormatAndMount.FormatAndMount over the ports, with its order of steps and texts.
 * Source: k8s.io/mount-utils v0.37.2 (mount_linux.go, formatAndMountSensitive).
 */
import { messageOf } from "@/lib/errors";
import { VolumeError, wrap } from "@/server/volume/errors";
import type { MountInterface, MountRequest } from "@/server/volume/mount";
import type { BlockTools } from "@/server/volume/ports";

/** Formats the source when nothing is on it, checks it else, and mounts it. Throws VolumeError; the tools' refusals keep their code. */
export async function formatAndMount(
  mounter: Pick<MountInterface, "mount">,
  blockTools: BlockTools,
  request: MountRequest,
): Promise<void> {
  const readOnly = request.options.includes("ro");
  const mountRequest = { ...request, options: [...request.options, "defaults"] };
  const { fsType: found } = await blockTools.probe(request.source).catch((error: unknown) => {
    throw wrap(`failed to get disk format of disk ${request.source}: ${messageOf(error)}`, error);
  });
  if (found === "") {
    if (readOnly) {
      throw new VolumeError(`cannot mount unformatted disk ${request.source} as we are manipulating it in read-only mode`);
    }
    await blockTools.format(request.source, request.fsType === "" ? "ext4" : request.fsType, []);
  } else if (!readOnly) {
    await blockTools.check(request.source, found);
  }
  await mounter.mount(mountRequest);
}
