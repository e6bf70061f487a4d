/**
 * The file `ready` that says a volume was set up completely. Source: pkg/volume/util/util.go (IsReady, SetReady) of v1.37.2.
 */
import type { HostPorts } from "@/server/volume/ports";

const readyFileName = "ready";

/** True for a regular file only; what can't be looked at is not ready. */
export async function isReady({ files, log }: Pick<HostPorts, "files" | "log">, dir: string): Promise<boolean> {
  const path = `${dir}/${readyFileName}`;
  try {
    const marker = await files.stat(path);
    if (marker && marker.kind !== "file") log.warn("the ready marker is not a file", { path });
    return marker?.kind === "file";
  } catch {
    return false;
  }
}

/** A marker that can't be written is logged: the volume works, and is set up again next time. */
export async function setReady({ files, log }: Pick<HostPorts, "files" | "log">, dir: string): Promise<void> {
  try {
    await files.mkdirAll(dir, 0o750);
    await files.writeFile(`${dir}/${readyFileName}`, "", 0o644);
  } catch (error) {
    log.error("could not write the ready marker", error, { dir });
  }
}
