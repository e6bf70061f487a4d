/** Names inside paths. Source: k8s.io/utils/strings/escape.go. */

/** A plugin's or driver's name as one element of a path. */
export function escapeQualifiedName(name: string): string {
  return name.replaceAll("/", "~");
}

/** The inverse, as far as there is one: a `~` of the name itself becomes a slash too. */
export function unescapeQualifiedName(name: string): string {
  return name.replaceAll("~", "/");
}

/** Splits at the first `~`; the second part is "" when there is none. */
export function splitQualifiedName(name: string): readonly [string, string] {
  const at = name.indexOf("~");
  return at < 0 ? [name, ""] : [name.slice(0, at), name.slice(at + 1)];
}
