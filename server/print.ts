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

/** Columns as wide as their widest cell, two blanks between. */
export function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd());
}
