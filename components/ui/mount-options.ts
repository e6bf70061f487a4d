/** Options of a mount and of its file system in one line; what both say stands once. */
export function optionsInWords(options: readonly string[]): string {
  return [...new Set(options)].join(",");
}
