/** Texts as bytes, for code that has neither Node nor a browser around it. */

/** UTF-8. Halves of surrogate pairs become U+FFFD, as Go's JSON decoder makes of them. */
export function utf8Bytes(text: string): Uint8Array {
  const bytes: number[] = [];
  for (const character of text.toWellFormed()) pushCodePoint(bytes, character.codePointAt(0) ?? 0);
  return Uint8Array.from(bytes);
}

function pushCodePoint(bytes: number[], code: number): void {
  const tail = (shift: number): number => 0x80 | ((code >> shift) & 0x3f);
  if (code < 0x80) bytes.push(code);
  else if (code < 0x800) bytes.push(0xc0 | (code >> 6), tail(0));
  else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), tail(6), tail(0));
  else bytes.push(0xf0 | (code >> 18), tail(12), tail(6), tail(0));
}

const base64Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const base64Values = new Map(Array.from(base64Alphabet, (character, value) => [character, value]));
const base64Shape = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Bytes of a padded base64 text, line ends ignored, as `[]byte` fields of the API carry them; undefined for anything else. */
export function base64Bytes(text: string): Uint8Array | undefined {
  const body = text.replace(/[\r\n]/g, "");
  if (!base64Shape.test(body)) return undefined;
  const bytes = new Uint8Array((body.length / 4) * 3 - (body.length - body.replace(/=+$/, "").length));
  for (let at = 0, from = 0; at < bytes.length; at += 3, from += 4) {
    const four = [0, 1, 2, 3].reduce((sum, next) => (sum << 6) | (base64Values.get(body.charAt(from + next)) ?? 0), 0);
    bytes[at] = four >> 16;
    if (at + 1 < bytes.length) bytes[at + 1] = four >> 8;
    if (at + 2 < bytes.length) bytes[at + 2] = four;
  }
  return bytes;
}

/** Standard base64 with padding. */
export function base64Text(bytes: Uint8Array): string {
  const groups: string[] = [];
  for (let at = 0; at < bytes.length; at += 3) {
    const have = Math.min(3, bytes.length - at);
    const sum = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    const four = [18, 12, 6, 0].map((shift) => base64Alphabet.charAt((sum >> shift) & 0x3f)).join("");
    groups.push(four.slice(0, have + 1).padEnd(4, "="));
  }
  return groups.join("");
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}
