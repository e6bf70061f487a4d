/**
 * Mounts without root: a user and mount namespace of our own, kept by a process that does nothing (the holder) and outlives a restart of
 * ours. Its pid and start time are remembered in the data folder.
 */
import { spawn } from "node:child_process";
import { readFile, readlink, rename, unlink, writeFile } from "node:fs/promises";
import { AppError, codeOf } from "@/lib/errors";
import { joinPath } from "@/server/hosts/paths";
import type { Clock } from "@/server/volume/ports";
import { cleanEnvironment } from "./exec";
import { identityOf, isRunning, processIdentitySchema } from "./process-identity";
import type { ProcessIdentity } from "./process-identity";

export const holderFileName = ".voldeck-namespace";
const readyTimeoutMs = 5000;
const pollMs = 10;

export interface UserNamespace {
  readonly holderPid: number;
  /** To be put before mount and umount. */
  readonly enter: readonly string[];
  /** To be put before paths, from outside. */
  readonly prefix: string;
  /** Ends the holder; with it go all mounts of the namespace. */
  end(): Promise<void>;
}

/** Finds the holder of an earlier start, or starts one. Throws AppError `precondition` with the system's own words when it can't. */
export async function openUserNamespace(root: string, clock: Clock): Promise<UserNamespace> {
  const file = joinPath(root, holderFileName);
  const holder = (await findHolder(root)) ?? (await startHolder(file, clock));
  const { pid } = holder;
  return {
    holderPid: pid,
    enter: ["nsenter", "-t", String(pid), "-U", "-m", "--preserve-credentials", "--"],
    prefix: `/proc/${pid}/root`,
    end: async () => {
      if (await isRunning(holder)) process.kill(pid, "SIGKILL");
      await unlink(file).catch(() => undefined);
    },
  };
}

/** The running holder of an earlier start, if there is one. */
export async function findHolder(root: string): Promise<ProcessIdentity | undefined> {
  const remembered = await readHolder(joinPath(root, holderFileName));
  return remembered !== undefined && (await isHolder(remembered)) ? remembered : undefined;
}

/**
 * Keeps the namespaces alive. What is unmounted outside goes inside too, where the machine's mounts are shared: a copy that stayed
 * would keep devices of others busy. Nothing goes the other way.
 */
export const holderCommand = ["unshare", "-Urm", "--propagation", "slave", "sleep", "infinity"] as const;

async function startHolder(file: string, clock: Clock): Promise<ProcessIdentity> {
  const [program, ...args] = holderCommand;
  const child = spawn(program, args, {
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
    env: cleanEnvironment,
  });
  let words = "";
  let ended = false;
  child.stderr.on("data", (chunk: Buffer) => {
    words += chunk.toString("utf8");
  });
  child.once("exit", () => {
    ended = true;
  });
  child.once("error", (error) => {
    words = error.message;
    ended = true;
  });
  const deadline = clock.nowMs() + readyTimeoutMs;
  while (!ended && clock.nowMs() < deadline) {
    const identity = child.pid === undefined ? undefined : await identityOf(child.pid);
    if (identity !== undefined && (await isHolder(identity))) {
      child.unref();
      child.stderr.destroy();
      await writeFile(`${file}.new`, `${JSON.stringify(identity)}\n`, { mode: 0o600 });
      await rename(`${file}.new`, file);
      return identity;
    }
    await clock.sleep(pollMs);
  }
  child.kill("SIGKILL");
  throw new AppError("precondition", `no user namespace can be made here: ${words.trim() === "" ? "unshare did not answer" : words.trim()}`);
}

/** True when the process runs, has become `sleep`, and is in a mount namespace of its own. */
async function isHolder(identity: ProcessIdentity): Promise<boolean> {
  if (!(await isRunning(identity))) return false;
  try {
    const name = (await readFile(`/proc/${identity.pid}/comm`, "utf8")).trim();
    const [theirs, ours] = await Promise.all([readlink(`/proc/${identity.pid}/ns/mnt`), readlink("/proc/self/ns/mnt")]);
    return name === "sleep" && theirs !== ours;
  } catch (error) {
    if (["ENOENT", "EACCES", "ESRCH"].includes(codeOf(error) ?? "")) return false;
    throw error;
  }
}

async function readHolder(file: string): Promise<ProcessIdentity | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    return processIdentitySchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
