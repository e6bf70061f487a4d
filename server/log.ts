/** The process's log: one line per message on standard error, fields as key=value, control characters stripped. */
import { messageOf } from "@/lib/errors";
import type { Log } from "@/server/volume/ports";

type Fields = Readonly<Record<string, string | number | boolean>>;

export function createLog(write: (line: string) => void, now: () => string): Log {
  const line = (level: string, message: string, fields: Fields = {}) => {
    const pairs = Object.entries(fields).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
    write(`${[now(), level, withoutControls(message), ...pairs].join(" ")}\n`);
  };
  return {
    info: (message, fields) => line("info", message, fields),
    warn: (message, fields) => line("warn", message, fields),
    error: (message, error, fields) => line("error", `${message}: ${messageOf(error)}`, fields),
  };
}

/** What comes from a cluster, a disk or a driver must not move the reader's cursor, nor turn the direction of a line. */
export function withoutControls(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g, " ");
}

export const processLog: Log = createLog(
  (line) => void process.stderr.write(line),
  () => new Date().toISOString(),
);
