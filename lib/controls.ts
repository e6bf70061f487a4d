/**
 * What comes from a cluster, a disk or a driver must not move the reader's cursor, nor turn the direction of a line: each such
 * character becomes one replacement character.
 */
export function withoutControls(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, "\ufffd");
}
