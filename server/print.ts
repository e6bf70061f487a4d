/** Standard output of commands. */
import { codeOf } from "@/lib/errors";

/** Waits until a pipe has taken all of it. A reader that has seen enough, such as head, is no failure. */
export function print(text: string): Promise<void> {
  return new Promise((done, fail) => {
    const failed = (error: Error): void => (codeOf(error) === "EPIPE" ? done() : fail(error));
    process.stdout.once("error", failed);
    process.stdout.write(text, (error) => {
      // The event comes after this call, and needs its listener still.
      if (error) return failed(error);
      process.stdout.removeListener("error", failed);
      done();
    });
  });
}

/** What could steer a terminal is escaped; the JSON says the same. */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value, undefined, 2);
  return `${text.replace(/[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, escaped)}\n`;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Columns as wide as their widest cell, two blanks between. */
export function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd());
}
