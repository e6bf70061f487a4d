/** Small helpers that adapters share. */
import type { Answer } from "@/e2e/goldens/adapter";
import { messageOf } from "@/lib/errors";
import { isNoPluginMatched } from "@/server/volume/errors";

/**
 * What a function gives, as a golden record: `{out}` or `{err}`. `null` stands for nil. An error of the language itself (a property of
 * undefined, a wrong call) is no answer of ours and goes on.
 */
export async function answerOf(ask: () => unknown): Promise<Answer> {
  try {
    return { out: (await ask()) ?? null };
  } catch (error) {
    if (isCrash(error)) throw error;
    return { err: messageOf(error), ...(isNoPluginMatched(error) && { isNoPluginMatched: true }) };
  }
}

const crashes: ReadonlySet<string> = new Set(["TypeError", "RangeError", "ReferenceError", "SyntaxError"]);

function isCrash(error: unknown): boolean {
  return error instanceof Error && crashes.has(error.name);
}
