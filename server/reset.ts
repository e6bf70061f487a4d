/**
 * `voldeck reset`: shows what Voldeck made on this machine for one data folder, and removes it. The list comes from the machine,
 * not from memory, so that it holds after a crash; what Voldeck did not make stays. Reached by main.ts.
 */
import { lstat, readdir, realpath, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import type { ParseArgsConfig } from "node:util";
import { withoutControls } from "@/lib/controls";
import { AppError, codeOf, isAppError, messageOf } from "@/lib/errors";
import { nodeFolderName, openDataFolder, sortEntries } from "@/server/data-folder";
import { parseFlags } from "@/server/flags";
import { findLeftovers, holdFolder, markerName, type HeldFolder, type Leftovers } from "@/server/hosts/linux";
import { isWithin } from "@/server/hosts/paths";
import { processLog } from "@/server/log";
import { dataFolderOf } from "@/server/options";
import { editedSample, type EditedFile } from "@/server/sample";

/** What a run of the command ends with. */
export const resetExit = { done: 0, failed: 1, unconfirmed: 2 } as const;

export const resetUsage = `Usage: npm run reset -- [options]
Shows what Voldeck made (mounts, loop devices, processes, folders) and, once confirmed, removes it.
  --data FOLDER  the data folder (VOLDECK_HOME, default $HOME/.voldeck)
  --yes          remove without asking, but keep what you changed or added in manifests and flexvolume
  --all          with --yes: remove that too
  --help         this text
Exit code: 0 nothing of Voldeck's is left, 1 refused or failed, 2 nobody to ask and no --yes`;

export interface ResetTerminal {
  print(text: string): void;
  /** Absent where nobody can answer. */
  readonly ask?: (question: string) => Promise<string>;
}

const flags = {
  data: { type: "string" },
  yes: { type: "boolean" },
  all: { type: "boolean" },
  help: { type: "boolean" },
} as const satisfies ParseArgsConfig["options"];

/** `args` without the word `reset`. Resolves to the exit code. */
export async function runReset(args: readonly string[], terminal: ResetTerminal = processTerminal()): Promise<number> {
  try {
    const values = parseFlags(args, flags);
    if (values.help === true) {
      terminal.print(resetUsage);
      return resetExit.done;
    }
    const asked = values.yes !== true;
    return await reset(dataFolderOf(values.data, process.env), { asked, keepsEdits: !asked && values.all !== true }, terminal);
  } catch (error) {
    terminal.print(`voldeck reset: ${messageOf(error)}`);
    if (!isAppError(error)) processLog.error("reset failed", error);
    return resetExit.failed;
  }
}

interface How {
  /** Whether the person is asked, with the whole list in view. */
  readonly asked: boolean;
  /** Whether what the person changed or added stays. */
  readonly keepsEdits: boolean;
}

async function reset(folder: string, how: How, terminal: ResetTerminal): Promise<number> {
  if (await isMissingOrEmpty(folder)) {
    terminal.print(`Nothing of Voldeck is in ${folder}`);
    return resetExit.done;
  }
  const held = [await openDataFolder(folder, process.getuid?.() ?? 0)];
  try {
    const { root } = held[0] ?? { root: folder };
    const node = await holdNode(join(root, nodeFolderName));
    if (node) held.push(node);
    return await resetHeld(root, how, terminal);
  } finally {
    for (const each of held) await each.release();
    // Marker and entries are gone when all went well; what the person keeps in the folder keeps the folder.
    await rmdir(await realpath(folder).catch(() => folder)).catch(keepWhatCannotGo);
  }
}

async function isMissingOrEmpty(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).length === 0;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return true;
    throw new AppError("precondition", `${folder} can't be read: ${messageOf(error)}`, { cause: error });
  }
}

/** A process of its own may hold the node's root alone. */
async function holdNode(node: string): Promise<HeldFolder | undefined> {
  const found = await lstat(node).catch(() => undefined);
  return found === undefined ? undefined : holdFolder(node, 0o750);
}

async function resetHeld(root: string, how: How, terminal: ResetTerminal): Promise<number> {
  const leftovers = await findLeftovers({ data: root, node: join(root, nodeFolderName) }, processLog);
  try {
    const entries = sortEntries(await readdir(root));
    const edited = await editedSample(root);
    terminal.print(await listOf(root, { leftovers, entries, edited, keepsEdits: how.keepsEdits }));
    if (leftovers.obstacles.length > 0) {
      terminal.print(["Nothing was removed:", ...leftovers.obstacles.map(withoutControls)].join("\n"));
      return resetExit.failed;
    }
    if (how.asked) {
      const refused = await refusal(terminal, edited.length > 0);
      if (refused !== undefined) return refused;
    }
    await leftovers.undo();
    const kept = how.keepsEdits ? edited.map(({ path }) => path) : [];
    for (const name of entries.own) await removeBut(leftovers.files, join(root, name), kept);
    if (entries.others.length === 0 && kept.length === 0) await unlink(join(root, markerName));
    terminal.print(kept.length === 0 ? "Removed" : "Removed, but for what you changed or added; --yes --all removes that too");
    return resetExit.done;
  } finally {
    leftovers.close();
  }
}

/** Asks. The exit code when it is not to be done. */
async function refusal(terminal: ResetTerminal, hasEdits: boolean): Promise<number | undefined> {
  if (terminal.ask === undefined) {
    const all = hasEdits ? "--yes to remove all of this but what is yours, --yes --all to remove that too" : "--yes to remove all of this";
    terminal.print(`Nothing was removed: there is no terminal to ask on. Say ${all}`);
    return resetExit.unconfirmed;
  }
  const what = hasEdits ? "the data in the volumes and the files that are yours" : "the data in the volumes";
  if (/^y(es)?$/i.test((await terminal.ask(`Remove all of this, with ${what}? [y/N] `)).trim())) return undefined;
  terminal.print("Nothing was removed");
  return resetExit.failed;
}

async function removeBut(files: Leftovers["files"], path: string, kept: readonly string[]): Promise<void> {
  if (kept.includes(path)) return;
  if (!kept.some((each) => isWithin(path, each))) return files.removeAll(path);
  for (const name of await readdir(path)) await removeBut(files, join(path, name), kept);
}

type Row = readonly [kind: string, what: string, detail?: string];

interface Found {
  readonly leftovers: Leftovers;
  readonly entries: ReturnType<typeof sortEntries>;
  readonly edited: readonly EditedFile[];
  readonly keepsEdits: boolean;
}

async function listOf(root: string, { leftovers, entries, edited, keepsEdits }: Found): Promise<string> {
  const sizes = await Promise.all(entries.own.map((name) => sizeOf(leftovers, join(root, name))));
  const rows: Row[] = [
    ...leftovers.mounts.map((row): Row => ["mount", row.mountPoint, row.fsType]),
    ...leftovers.namespaceMounts.map((row): Row => ["mount", row.mountPoint, `${row.fsType}, in the user namespace`]),
    ...leftovers.loops.map(({ device, file }): Row => ["loop device", device, file]),
    ...leftovers.processes.map(({ pid, name }): Row => ["process", `${pid}`, `${name}, in the user namespace`]),
    ...entries.own.map((name, index): Row => ["folder or file", join(root, name), sizes[index]]),
  ];
  const yours = edited.map(({ path, edit }): Row => [keepsEdits ? "kept" : "yours", path, `${edit} by you`]);
  const kept = entries.others.map((name): Row => ["kept", join(root, name), "not made by Voldeck"]);
  return [`Voldeck made for ${root}:`, ...[...rows, ...yours, ...kept].map(lineOf)].join("\n");
}

function lineOf([kind, what, detail]: Row): string {
  return withoutControls(`  ${kind.padEnd(14)}  ${what}${detail === undefined ? "" : `  (${detail})`}`);
}

async function sizeOf({ files }: Leftovers, path: string): Promise<string | undefined> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isDirectory() !== true) return undefined;
  const used = await files.usage(path).catch(() => undefined);
  return used && `${Math.ceil(Number(used.usedBytes) / 1024)} KiB on disk`;
}

function keepWhatCannotGo(error: unknown): void {
  // ENOTEMPTY: refused, or the person's own things. The rest: a folder of others' making, which is left empty.
  if (!["ENOTEMPTY", "ENOENT", "ENOTDIR", "EBUSY", "EACCES", "EPERM", "EROFS"].includes(codeOf(error) ?? "")) throw error;
}

function processTerminal(): ResetTerminal {
  const print = (text: string) => console.log(text);
  if (!process.stdin.isTTY || !process.stdout.isTTY) return { print };
  return {
    print,
    ask: async (question) => {
      const lines = createInterface({ input: process.stdin, output: process.stdout });
      try {
        return await lines.question(question);
      } finally {
        lines.close();
      }
    },
  };
}
