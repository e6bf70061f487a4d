/** The process's log: one line per message on standard error, fields as key=value, control characters stripped. */
import { withoutControls } from "@/lib/controls";
import { messageOf } from "@/lib/errors";
import type { Log } from "@/server/volume/ports";

type Fields = Readonly<Record<string, string | number | boolean>>;

export function createLog(write: (line: string) => void, now: () => string): Log {
  const line = (level: string, message: string, fields: Fields = {}) => {
    const pairs = Object.entries(fields).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
    write(`${withoutControls([now(), level, message, ...pairs].join(" "))}\n`);
  };
  return {
    info: (message, fields) => line("info", message, fields),
    warn: (message, fields) => line("warn", message, fields),
    error: (message, error, fields) => line("error", `${message}: ${messageOf(error)}`, fields),
  };
}

export const processLog: Log = createLog(
  (line) => void process.stderr.write(line),
  () => new Date().toISOString(),
);
