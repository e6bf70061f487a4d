const units = ["B", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"] as const;

/** Decimal digits of bytes in the largest binary unit that keeps it above one: `7.9Gi`, `64Mi`, `512B`. */
export function bytesInWords(bytes: string): string {
  const exact = BigInt(bytes);
  let unit = 0;
  let size = 1n;
  while (unit < units.length - 1 && exact >= size * 1024n) {
    size *= 1024n;
    unit += 1;
  }
  const tenths = (exact * 10n) / size;
  const whole = tenths / 10n;
  const rest = tenths % 10n;
  return `${whole}${rest === 0n || whole >= 100n ? "" : `.${rest}`}${units[unit]}`;
}

/** All digits, grouped for the reader, for hover. */
export function exactBytes(bytes: string): string {
  return `${BigInt(bytes).toLocaleString()} bytes`;
}
