/** What this process can do with mounts, tried and not guessed. */
import { readFile } from "node:fs/promises";
import { messageOf } from "@/lib/errors";
import type { Exec } from "@/server/volume/ports";
import { endOf } from "./exec";

export interface MountCapability {
  readonly mode: "root" | "user-namespace" | "none";
  /** For a person: why it is this mode and no better one, in the system's own words. */
  readonly reason: string;
  /** Loop devices and file systems on devices; only as root of the first user namespace. */
  readonly blockDevices: boolean;
}

const capSysAdmin = 1n << 21n;
const timeoutMs = 5000;

export async function mountCapability(exec: Exec): Promise<MountCapability> {
  const asRoot = await rootRefusal(exec);
  if (asRoot === undefined) {
    const blockDevices = await isFirstUserNamespace();
    return {
      mode: "root",
      blockDevices,
      reason: blockDevices ? "runs as root" : "runs as root of a user namespace: no file systems on devices",
    };
  }
  const inNamespace = await tried(exec, ["-Urm", "true"]);
  if (inNamespace === undefined) return { mode: "user-namespace", blockDevices: false, reason: asRoot };
  return { mode: "none", blockDevices: false, reason: `${asRoot}; ${inNamespace}` };
}

async function rootRefusal(exec: Exec): Promise<string | undefined> {
  const status = await readFile("/proc/self/status", "utf8");
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? "0";
  if ((BigInt(`0x${effective}`) & capSysAdmin) === 0n) return "without CAP_SYS_ADMIN mounts need a user namespace of our own";
  return tried(exec, ["-m", "true"]);
}

/** undefined when unshare worked, else its refusal. */
async function tried(exec: Exec, args: readonly string[]): Promise<string | undefined> {
  try {
    const result = await exec.run("unshare", args, { timeoutMs });
    return result.exitCode === 0 ? undefined : `unshare ${args.join(" ")}: ${endOf(result)}: ${result.output.trim()}`;
  } catch (error) {
    return messageOf(error);
  }
}

async function isFirstUserNamespace(): Promise<boolean> {
  const map = await readFile("/proc/self/uid_map", "utf8").catch(() => "");
  return /^\s*0\s+0\s+4294967295\s*$/.test(map);
}
