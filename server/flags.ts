/** Flags of the commands' lines. */
import { parseArgs, type ParseArgsConfig } from "node:util";
import { AppError, messageOf } from "@/lib/errors";

/** Throws AppError `invalid` that names the flag; words that are no flag are refused too. */
export function parseFlags<const Flags extends NonNullable<ParseArgsConfig["options"]>>(args: readonly string[], flags: Flags) {
  try {
    return parseArgs({ args: [...args], options: flags, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new AppError("invalid", messageOf(error), { cause: error });
  }
}
