/**
 * What lies behind this machine's loop devices. Whether a file is ours is told by its file system and inode, as the kernel has them: a
 * path is only text, and another mount namespace may have the same text for another file.
 */
import { lstat, realpath } from "node:fs/promises";
import { z } from "zod";
import { codeOf } from "@/lib/errors";
import { isWithin } from "@/server/hosts/paths";
import { VolumeError } from "@/server/volume/errors";
import type { Exec } from "@/server/volume/ports";
import { endOf } from "./exec";
import { deviceText } from "./foreign-answers";

export interface LoopDevice {
  readonly device: string;
  readonly file: string;
  /** The file was removed; the device still holds its content. */
  readonly deleted: boolean;
}

export interface OwnLoop extends LoopDevice {
  /** major:minor, as mount tables have it. */
  readonly number: string;
}

const timeoutMs = 30_000;
const deletedSuffix = " (deleted)";
const columns = "NAME,MAJ:MIN,BACK-FILE,BACK-INO,BACK-MAJ:MIN";

/** Inode and file system are null for who may not open the device: then nothing is known, and it is not ours. */
const rowSchema = z.object({
  name: z.string(),
  "maj:min": z.string(),
  "back-file": z.string().nullable(),
  "back-ino": z.number().nullable(),
  "back-maj:min": z.string().nullable(),
});
const tableSchema = z.object({ loopdevices: z.array(rowSchema) });
type Row = z.infer<typeof rowSchema>;

export class LoopTable {
  /** `root`: absolute, without links. */
  constructor(
    private readonly root: string,
    private readonly exec: Exec,
  ) {}

  /** The loop devices whose files lie in the root. */
  async own(): Promise<readonly OwnLoop[]> {
    const owned = await Promise.all((await this.rows()).map((row) => this.ownOf(row)));
    return owned.filter((loop) => loop !== undefined);
  }

  /** Asked anew each time: the number of a loop device is soon somebody else's. */
  async isOwn(device: string): Promise<boolean> {
    if (!/^\/dev\/loop\d+$/.test(device)) return false;
    return (await this.own()).some((loop) => loop.device === device);
  }

  private async rows(): Promise<readonly Row[]> {
    const command = ["--list", "--json", "--output", columns];
    const result = await this.exec.run("losetup", command, { timeoutMs });
    if (result.exitCode !== 0) throw new VolumeError(`losetup ${command.join(" ")} failed: ${endOf(result)}\nOutput: ${result.output}`);
    // Without any loop device it prints nothing at all.
    return result.output.trim() === "" ? [] : tableSchema.parse(JSON.parse(result.output)).loopdevices;
  }

  private async ownOf(row: Row): Promise<OwnLoop | undefined> {
    const shown = row["back-file"];
    const [inode, fileSystem] = [row["back-ino"], row["back-maj:min"]?.trim()];
    if (shown === null || inode === null || fileSystem === undefined || !isWithin(this.root, shown)) return undefined;
    const loop = { device: row.name, number: row["maj:min"].trim() };
    const there = await fileAt(shown);
    if (there?.inode === String(inode) && there.fileSystem === fileSystem) return { ...loop, file: shown, deleted: false };
    if (!shown.endsWith(deletedSuffix)) return undefined;
    // Its inode has no name any more to compare with; that it lay on the root's file system is what can still be told.
    const file = shown.slice(0, -deletedSuffix.length);
    const root = await fileAt(this.root);
    return isWithin(this.root, file) && root?.fileSystem === fileSystem ? { ...loop, file, deleted: true } : undefined;
  }
}

/** undefined when nothing is there, or the way leads through a link. */
async function fileAt(path: string): Promise<{ readonly inode: string; readonly fileSystem: string } | undefined> {
  try {
    if ((await realpath(path)) !== path) return undefined;
    const { ino, dev } = await lstat(path, { bigint: true });
    return { inode: String(ino), fileSystem: deviceText(dev) };
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EACCES", "ELOOP"].includes(codeOf(error) ?? "")) return undefined;
    throw error;
  }
}
