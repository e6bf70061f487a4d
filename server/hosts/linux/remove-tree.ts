/**
 * The one recursive delete of this program. Node's fs.rmSync and plain `rm -rf` delete the content of what is mounted below before they
 * fail; this refuses while anything is mounted there, moves the tree aside, looks again, and then deletes on one file system only.
 */
import { randomUUID } from "node:crypto";
import { readdir, rename, unlink } from "node:fs/promises";
import { codeOf, messageOf } from "@/lib/errors";
import { fileError } from "@/server/hosts/file-errors";
import { mountsAtOrBelow } from "@/server/hosts/mount-queries";
import { joinPath, parentOf } from "@/server/hosts/paths";
import { FileError } from "@/server/volume/ports";
import type { Exec, Log } from "@/server/volume/ports";
import { endOf } from "./exec";
import type { MountReader } from "./mount-reader";
import type { LocalPlace } from "./walk";

const removeTimeoutMs = 120_000;
const asidePrefix = ".voldeck-removed-";
const asidePattern = /^\.voldeck-removed-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export class TreeRemover {
  /** Trees moved aside by this process and not gone yet. */
  private readonly aside = new Set<string>();
  private readonly told = new Map<string, string>();

  constructor(private readonly options: { readonly mounts: MountReader; readonly exec: Exec; readonly log: Log }) {}

  /**
   * Deletes what `place` holds, if anything; it was walked to without following a link. Throws FileError EBUSY when something is mounted
   * below; then nothing was deleted.
   */
  async remove(place: LocalPlace, shown: string): Promise<void> {
    if (place.stat === undefined) return;
    if (!place.stat.isDirectory()) return removeOne(place, shown);
    const name = `${asidePrefix}${randomUUID()}`;
    const holder = `/proc/self/fd/${place.holder.fd}`;
    this.aside.add(name);
    try {
      await rename(place.at, `${holder}/${name}`).catch((error: unknown) => {
        throw fileError("unlinkat", shown, codeOf(error) ?? "EIO");
      });
      await this.removeAside(place, name, shown).catch(async (error: unknown) => {
        await rename(`${holder}/${name}`, place.at).catch((notBack: unknown) => this.tellLeft(place, name, notBack));
        throw error;
      });
    } finally {
      this.aside.delete(name);
    }
  }

  /** Deletes what an earlier process had moved aside beside this place and did not live to delete; what stays is told in the log. */
  async sweep(place: LocalPlace): Promise<void> {
    const names = await readdir(`/proc/self/fd/${place.holder.fd}`);
    const left = names.filter((name) => asidePattern.test(name) && !this.aside.has(name));
    for (const name of left) {
      await this.removeAside(place, name, joinPath(parentOf(place.real), name)).catch((error: unknown) => this.tellLeft(place, name, error));
    }
  }

  /** Once for each reason: every delete beside it comes by again. */
  private tellLeft(place: LocalPlace, name: string, error: unknown): void {
    if (this.told.get(name) === messageOf(error)) return;
    this.told.set(name, messageOf(error));
    this.options.log.warn("a removed folder is left", { path: joinPath(parentOf(place.real), name), error: messageOf(error) });
  }

  private async removeAside(place: LocalPlace, name: string, shown: string): Promise<void> {
    // A mount that came between the caller's look and the move has moved along and shows under the new name.
    if (mountsAtOrBelow(await this.options.mounts.read(), joinPath(parentOf(place.real), name)).length > 0) {
      throw fileError("unlinkat", shown, "EBUSY");
    }
    const target = `/proc/${process.pid}/fd/${place.holder.fd}/${name}`;
    const result = await this.options.exec.run("rm", ["-rf", "--one-file-system", "--", target], { timeoutMs: removeTimeoutMs });
    if (result.exitCode === 0) return;
    throw new FileError("EIO", `unlinkat ${shown}: ${endOf(result)}: ${result.output.replaceAll(target, shown).trim()}`, shown);
  }
}

async function removeOne(place: LocalPlace, shown: string): Promise<void> {
  await unlink(place.at).catch((error: unknown) => {
    throw fileError("unlinkat", shown, codeOf(error) ?? "EIO");
  });
}
