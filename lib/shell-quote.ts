/** One word of a POSIX shell. */
export function shellQuote(text: string): string {
  return /^[A-Za-z0-9_.,:=@%+/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

