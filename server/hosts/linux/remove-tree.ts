/**
 * The one recursive delete of this program. Node's fs.rmSync and plain `rm -rf` delete the content of what is mounted below before they
 * fail; this refuses while anything is mounted there, moves the tree aside, looks again, and then deletes on one file system only.
 */
import { randomUUID } from "node:crypto";
import { rename, unlink } from "node:fs/promises";
import { codeOf } from "@/lib/errors";
import { fileError } from "@/server/hosts/file-errors";
import { mountsAtOrBelow } from "@/server/hosts/mount-queries";
import { joinPath, parentOf } from "@/server/hosts/paths";
import { FileError } from "@/server/volume/ports";
import type { Exec } from "@/server/volume/ports";
import { endOf } from "./exec";
import type { MountReader } from "./mount-reader";
import type { LocalPlace } from "./walk";

const removeTimeoutMs = 120_000;

/** `place` was walked to without following a link. Throws FileError EBUSY when something is mounted below; then nothing was deleted. */
export async function removeTree(
  place: LocalPlace,
  shown: string,
  tools: { readonly mounts: MountReader; readonly exec: Exec },
): Promise<void> {
  if (place.stat?.isDirectory() !== true) return removeOne(place, shown);
  const aside = `.voldeck-removed-${randomUUID()}`;
  const holder = `/proc/self/fd/${place.holder.fd}`;
  const putBack = (): Promise<void> => rename(`${holder}/${aside}`, place.at).catch(() => undefined);
  await rename(place.at, `${holder}/${aside}`).catch((error: unknown) => {
    throw fileError("unlinkat", shown, codeOf(error) ?? "EIO");
  });
  // A mount that came between the caller's look and the move has moved along and shows under the new name.
  if (mountsAtOrBelow(await tools.mounts.read(), joinPath(parentOf(place.real), aside)).length > 0) {
    await putBack();
    throw fileError("unlinkat", shown, "EBUSY");
  }
  const target = `/proc/${process.pid}/fd/${place.holder.fd}/${aside}`;
  const result = await tools.exec.run("rm", ["-rf", "--one-file-system", "--", target], { timeoutMs: removeTimeoutMs });
  if (result.exitCode === 0) return;
  await putBack();
  throw new FileError("EIO", `unlinkat ${shown}: ${endOf(result)}: ${result.output.replaceAll(target, shown).trim()}`, shown);
}

async function removeOne(place: LocalPlace, shown: string): Promise<void> {
  await unlink(place.at).catch((error: unknown) => {
    throw fileError("unlinkat", shown, codeOf(error) ?? "EIO");
  });
}
