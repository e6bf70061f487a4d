/** Splits a stream of bytes into lines; a chunk may end inside a character or a line. */
import { AppError } from "@/lib/errors";

/** Empty lines are left out. Throws AppError `unsupported` when a line is longer than the limit (in characters). */
export class LineSplitter {
  private readonly decoder = new TextDecoder("utf-8");
  private parts: string[] = [];
  private pendingLength = 0;

  constructor(private readonly maxLineLength: number) {}

  push(chunk: Uint8Array): string[] {
    const text = this.decoder.decode(chunk, { stream: true });
    const pieces = text.split("\n");
    const rest = pieces.pop() ?? "";
    const lines: string[] = [];
    for (const piece of pieces) {
      this.keep(piece);
      const line = this.parts.join("");
      this.parts = [];
      this.pendingLength = 0;
      if (line.trim() !== "") lines.push(line);
    }
    this.keep(rest);
    return lines;
  }

  private keep(piece: string): void {
    this.pendingLength += piece.length;
    if (this.pendingLength > this.maxLineLength) {
      throw new AppError("unsupported", `a watch event is longer than ${this.maxLineLength} characters`);
    }
    this.parts.push(piece);
  }
}
