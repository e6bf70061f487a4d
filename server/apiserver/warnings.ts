/** Warning headers of one answer. Source: k8s.io/apiserver/pkg/endpoints/filters/warning.go: each text once, in order. */

export class Warnings {
  private readonly texts = new Set<string>();

  add(text: string): void {
    if (text !== "") this.texts.add(text);
  }

  addAll(texts: readonly string[]): void {
    for (const text of texts) this.add(text);
  }

  list(): string[] {
    return [...this.texts];
  }

  /** Header values: `299 - "text"`. */
  headers(): string[] {
    return this.list().map((text) => `299 - ${quoteHeader(text)}`);
  }
}

/** A quoted string of a header: control characters dropped, backslash and quote escaped. */
function quoteHeader(text: string): string {
  const printable = text.replace(/[\u0000-\u001f\u007f]/gu, "");
  return `"${printable.replace(/\\/gu, "\\\\").replace(/"/gu, '\\"')}"`;
}

/** The text of an unknown or repeated field, as it stands in a warning. */
export function strictText(errors: readonly string[]): string {
  return `strict decoding error: ${errors.join(", ")}`;
}

