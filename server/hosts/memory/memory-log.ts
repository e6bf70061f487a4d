import { messageOf } from "@/lib/errors";
import type { Log } from "@/server/volume/ports";

export interface LogEntry {
  readonly level: "info" | "warn" | "error";
  readonly message: string;
  readonly error?: string;
  readonly fields: Readonly<Record<string, string | number | boolean>>;
}

/** Keeps what was logged. */
export class MemoryLog implements Log {
  readonly entries: LogEntry[] = [];

  info(message: string, fields: LogEntry["fields"] = {}): void {
    this.entries.push({ level: "info", message, fields });
  }

  warn(message: string, fields: LogEntry["fields"] = {}): void {
    this.entries.push({ level: "warn", message, fields });
  }

  error(message: string, error: unknown, fields: LogEntry["fields"] = {}): void {
    this.entries.push({ level: "error", message, error: messageOf(error), fields });
  }
}
