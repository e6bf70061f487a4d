/** A process that can be found again: pid, start time and boot, so that a reused pid is not mistaken for it. */
import { readFile } from "node:fs/promises";
import { z } from "zod";

export const processIdentitySchema = z.object({
  pid: z.number().int().positive(),
  /** Field 22 of /proc/PID/stat: clock ticks since boot. */
  startTime: z.string(),
  bootId: z.string(),
});
export type ProcessIdentity = z.infer<typeof processIdentitySchema>;

/** The identity of a running process, or undefined when there is none with this pid, or only a dead one that nobody has reaped. */
export async function identityOf(pid: number): Promise<ProcessIdentity | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (stat === undefined) return undefined;
  // The second field is the program's name in parentheses and may hold anything; the state is field 3.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const startTime = fields[19];
  if (startTime === undefined || fields[0] === "Z" || fields[0] === "X") return undefined;
  const bootId = (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
  return { pid, startTime, bootId };
}

export async function isRunning(identity: ProcessIdentity): Promise<boolean> {
  const now = await identityOf(identity.pid);
  return now !== undefined && now.startTime === identity.startTime && now.bootId === identity.bootId;
}
