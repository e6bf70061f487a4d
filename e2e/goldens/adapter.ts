/** The contract between the golden runner and the adapters: one adapter per file of goldens, by the file's base name. */

/** One line of a golden file: a question and the answer of Kubernetes' own code. */
export interface GoldenLine {
  readonly id: string;
  readonly fn: string;
  readonly in: Readonly<Record<string, unknown>>;
  readonly out?: unknown;
  readonly err?: unknown;
  readonly panic?: boolean;
  readonly message?: string;
  readonly isNoPluginMatched?: boolean;
}

/** Our answer, in the form of the golden line. `err` alone is compared where the real code crashed: any error of ours will do. */
export interface Answer {
  readonly out?: unknown;
  readonly err?: unknown;
  readonly isNoPluginMatched?: boolean;
}

export interface Adapter {
  /** The reason why a line is not supported, or undefined. Judged by what is asked, never by the line's id. */
  unsupported?(line: GoldenLine): string | undefined;
  answer(line: GoldenLine): Promise<Answer>;
}
