/**
 * Equality of a golden answer and ours. Key order inside objects means nothing; an absent key and one without a value (undefined)
 * are the same. Nothing else is forgiven except what the golden line itself marks:
 *
 * - `"panic": true` (a record) or `{"panic": "..."}` (an err): the real code crashed, any error of ours is right. The other keys of
 *   such a record (calls, probes, ...) are still compared; the text of the crash is not.
 * - `unordered` beside an `err`: a note that the names in the text were sorted; the text itself holds them all.
 * - `{"unordered": [...]}` alone: a multiset. Ours is a list, the same form, or an API Status whose causes are the list.
 * - `0xPTR` and `<address>` stand for a pointer, `..TS` for a time-stamped data directory: ours are masked where the golden text
 *   has the mark.
 */

export interface Difference {
  /** Where in the answer, such as `out.steps.0.err`. */
  readonly path: string;
  readonly expected: unknown;
  readonly got: unknown;
}

/** The first difference between two answers, or undefined. */
export function firstDifference(expected: unknown, got: unknown, path = ""): Difference | undefined {
  const different = { path, expected, got };
  if (typeof expected === "string" && typeof got === "string") {
    return expected === masked(got, expected) ? undefined : different;
  }
  if (Array.isArray(expected)) return compareLists(expected, got, path);
  if (!isRecord(expected)) return Object.is(expected ?? null, got ?? null) ? undefined : different;
  if (isUnorderedList(expected)) return compareUnordered(expected.unordered, got, path);
  if (isCrash(expected)) return compareCrash(expected, got, path);
  return isRecord(got) ? compareRecords(expected, got, path) : different;
}

function compareLists(expected: readonly unknown[], got: unknown, path: string): Difference | undefined {
  if (!Array.isArray(got) || got.length !== expected.length) return { path, expected, got };
  for (const [index, value] of expected.entries()) {
    const difference = firstDifference(value, got[index], below(path, String(index)));
    if (difference) return difference;
  }
  return undefined;
}

function compareRecords(expected: Fields, got: Fields, path: string): Difference | undefined {
  const noted = "err" in expected && "unordered" in expected;
  for (const key of new Set([...Object.keys(expected), ...Object.keys(got)])) {
    if (noted && key === "unordered") continue;
    const [theirs, ours] = [own(expected, key), own(got, key)];
    if ((theirs === undefined) !== (ours === undefined)) return { path: below(path, key), expected: theirs, got: ours };
    const difference = firstDifference(theirs, ours, below(path, key));
    if (difference) return difference;
  }
  return undefined;
}

function compareUnordered(expected: readonly unknown[], got: unknown, path: string): Difference | undefined {
  const ours = listOf(got);
  if (!ours || ours.length !== expected.length) return { path, expected, got };
  const left = [...ours];
  for (const value of expected) {
    const at = left.findIndex((candidate) => firstDifference(value, candidate) === undefined);
    if (at < 0) return { path, expected, got };
    left.splice(at, 1);
  }
  return undefined;
}

/** The list in any of the forms an adapter may give it. */
function listOf(got: unknown): readonly unknown[] | undefined {
  if (Array.isArray(got)) return got;
  if (!isRecord(got)) return undefined;
  if (isUnorderedList(got)) return got.unordered;
  const details = own(got, "details");
  const causes = isRecord(details) ? own(details, "causes") : undefined;
  return Array.isArray(causes) ? causes : undefined;
}

const partsOfACrash = new Set(["panic", "message", "err", "out", "isNoPluginMatched"]);

function compareCrash(expected: Fields, got: unknown, path: string): Difference | undefined {
  const different = { path, expected, got };
  if (typeof expected["panic"] === "string") return got === undefined || got === null ? different : undefined;
  if (!isRecord(got) || (own(got, "err") ?? own(got, "panic") ?? null) === null) return different;
  return compareRecords(without(expected, partsOfACrash), without(got, partsOfACrash), path);
}

function isCrash(value: Fields): boolean {
  return value["panic"] === true || (typeof value["panic"] === "string" && Object.keys(value).length === 1);
}

function isUnorderedList(value: Fields): value is { readonly unordered: readonly unknown[] } {
  return Array.isArray(value["unordered"]) && Object.keys(value).length === 1;
}

function masked(text: string, expected: string): string {
  let result = text;
  if (expected.includes("0xPTR")) result = result.replaceAll(/0x[0-9a-f]+/g, "0xPTR");
  if (expected.includes("<address>")) result = result.replaceAll(/0x[0-9a-f]+/g, "<address>");
  if (expected.includes("..TS")) result = result.replaceAll(/\.\.\d{4}(_\d{2}){5}\.\w+/g, "..TS");
  return result;
}

type Fields = Readonly<Record<string, unknown>>;

function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `__proto__` and `constructor` are ordinary keys. */
function own(record: Fields, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

function without(record: Fields, keys: ReadonlySet<string>): Fields {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !keys.has(key)));
}

function below(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}
