/** Times and bytes in the spelling in which Go writes them. Pure: no Date of the host's zone is read. */

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)$/u;

/** metav1.Time: whole seconds, in UTC. Throws with the words of Go's time.Parse. */
export function decodeTime(text: string): string {
  return new Date(parseTime(text, "2006-01-02T15:04:05Z07:00").ms).toISOString().replace(/\.\d{3}Z$/u, "Z");
}

/** metav1.MicroTime: six digits of a second, in UTC. */
export function decodeMicroTime(text: string): string {
  const { ms, fraction } = parseTime(text, "2006-01-02T15:04:05.000000Z07:00");
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/u, `.${fraction.padEnd(6, "0").slice(0, 6)}Z`);
}

function parseTime(text: string, layout: string): { ms: number; fraction: string } {
  const match = rfc3339.exec(text);
  const [, year, month, day, hour, minute, second, fraction = "", zone = "Z"] = match ?? [];
  const ms = match === null ? Number.NaN : Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  if (match === null || !isCalendar(ms, Number(month), Number(day), Number(hour))) {
    throw new Error(`parsing time ${JSON.stringify(text)} as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(text)} as "2006"`);
  }
  return { ms: ms - zoneMs(zone), fraction };
}

function isCalendar(ms: number, month: number, day: number, hour: number): boolean {
  const date = new Date(ms);
  return date.getUTCMonth() + 1 === month && date.getUTCDate() === day && date.getUTCHours() === hour;
}

function zoneMs(zone: string): number {
  if (zone === "Z") return 0;
  const sign = zone.startsWith("-") ? -1 : 1;
  return sign * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6))) * 60_000;
}

const base64Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** A []byte field: checked as Go's base64.StdEncoding checks it, line ends dropped. Throws with Go's words. */
export function decodeBytes(text: string): string {
  const clean = text.replace(/[\r\n]/gu, "");
  const padding = /={0,2}$/u.exec(clean)?.[0].length ?? 0;
  const body = clean.slice(0, clean.length - padding);
  for (let index = 0; index < body.length; index += 1) {
    if (!base64Alphabet.includes(body.charAt(index))) throw illegal(index);
  }
  const rest = body.length % 4;
  if (rest === 1 || (rest === 0 ? padding !== 0 : padding !== 4 - rest)) throw illegal(clean.length - (clean.length % 4));
  return clean;
}

function illegal(index: number): Error {
  return new Error(`illegal base64 data at input byte ${index}`);
}
