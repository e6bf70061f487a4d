/**
 * Unified diffs of texts, block for block as Python's difflib (and Go's port of it, which Kubernetes uses in its refusals) cuts them:
 * longest matching block first, lines that are very frequent in long texts ignored when blocks are sought.
 */

interface Match {
  readonly a: number;
  readonly b: number;
  readonly size: number;
}

interface Change {
  readonly tag: "equal" | "replace" | "delete" | "insert";
  readonly a: readonly [number, number];
  readonly b: readonly [number, number];
}

/** The hunks (no file header), each with `context` lines around its changes; "" where the texts are equal. */
export function unifiedDiff(before: string, after: string, context = 3): string {
  const a = splitLines(before);
  const b = splitLines(after);
  return groups(changes(a, b), context)
    .map((group) => hunk(group, a, b))
    .join("");
}

function splitLines(text: string): string[] {
  const lines = text.split("\n").map((line) => `${line}\n`);
  return lines;
}

function hunk(group: readonly Change[], a: readonly string[], b: readonly string[]): string {
  const first = group[0];
  const last = group.at(-1);
  if (first === undefined || last === undefined) return "";
  let text = `@@ -${range(first.a[0], last.a[1])} +${range(first.b[0], last.b[1])} @@\n`;
  for (const { tag, a: inA, b: inB } of group) {
    if (tag === "equal") text += prefixed(" ", a.slice(...inA));
    if (tag === "replace" || tag === "delete") text += prefixed("-", a.slice(...inA));
    if (tag === "replace" || tag === "insert") text += prefixed("+", b.slice(...inB));
  }
  return text;
}

function prefixed(prefix: string, lines: readonly string[]): string {
  return lines.map((line) => prefix + line).join("");
}

function range(start: number, stop: number): string {
  const length = stop - start;
  if (length === 1) return String(start + 1);
  return `${length === 0 ? start : start + 1},${length}`;
}

function changes(a: readonly string[], b: readonly string[]): Change[] {
  const out: Change[] = [];
  let i = 0;
  let j = 0;
  for (const match of matchingBlocks(a, b)) {
    const tag = i < match.a && j < match.b ? "replace" : i < match.a ? "delete" : j < match.b ? "insert" : undefined;
    if (tag !== undefined) out.push({ tag, a: [i, match.a], b: [j, match.b] });
    i = match.a + match.size;
    j = match.b + match.size;
    if (match.size > 0) out.push({ tag: "equal", a: [match.a, i], b: [match.b, j] });
  }
  return out;
}

function groups(all: readonly Change[], context: number): Change[][] {
  const codes = all.map((change, index) => trim(change, { first: index === 0, last: index === all.length - 1 }, context));
  const out: Change[][] = [];
  let group: Change[] = [];
  for (const code of codes) {
    let next = code;
    if (code.tag === "equal" && code.a[1] - code.a[0] > 2 * context) {
      group.push({ tag: "equal", a: [code.a[0], code.a[0] + context], b: [code.b[0], code.b[0] + context] });
      out.push(group);
      group = [];
      next = { tag: "equal", a: [code.a[1] - context, code.a[1]], b: [code.b[1] - context, code.b[1]] };
    }
    group.push(next);
  }
  out.push(group);
  return out.filter((candidate) => candidate.some(({ tag }) => tag !== "equal"));
}

/** Equal lines before the first and after the last change are cut to the context. */
function trim(change: Change, where: { first: boolean; last: boolean }, context: number): Change {
  if (change.tag !== "equal") return change;
  let { a, b } = change;
  if (where.first) {
    a = [Math.max(a[0], a[1] - context), a[1]];
    b = [Math.max(b[0], b[1] - context), b[1]];
  }
  if (where.last) {
    a = [a[0], Math.min(a[1], a[0] + context)];
    b = [b[0], Math.min(b[1], b[0] + context)];
  }
  return { tag: "equal", a, b };
}

function matchingBlocks(a: readonly string[], b: readonly string[]): Match[] {
  const places = placesOf(b);
  const found: Match[] = [];
  const search = (alo: number, ahi: number, blo: number, bhi: number): void => {
    const match = longestMatch({ a, b, places }, [alo, ahi], [blo, bhi]);
    if (match.size === 0) return;
    if (alo < match.a && blo < match.b) search(alo, match.a, blo, match.b);
    found.push(match);
    if (match.a + match.size < ahi && match.b + match.size < bhi) search(match.a + match.size, ahi, match.b + match.size, bhi);
  };
  search(0, a.length, 0, b.length);
  return [...joined(found), { a: a.length, b: b.length, size: 0 }];
}

function joined(found: readonly Match[]): Match[] {
  const out: Match[] = [];
  for (const match of found) {
    const last = out.at(-1);
    if (last !== undefined && last.a + last.size === match.a && last.b + last.size === match.b) {
      out[out.length - 1] = { ...last, size: last.size + match.size };
    } else out.push(match);
  }
  return out;
}

/** Where each line stands in b; in texts of 200 lines and more, lines above one per cent of them are left out. */
function placesOf(b: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  b.forEach((line, index) => {
    const known = places.get(line);
    if (known === undefined) places.set(line, [index]);
    else known.push(index);
  });
  const limit = Math.floor(b.length / 100) + 1;
  if (b.length >= 200) {
    for (const [line, indexes] of [...places]) if (indexes.length > limit) places.delete(line);
  }
  return places;
}

interface Texts {
  readonly a: readonly string[];
  readonly b: readonly string[];
  readonly places: ReadonlyMap<string, readonly number[]>;
}

function longestMatch({ a, b, places }: Texts, [alo, ahi]: readonly [number, number], [blo, bhi]: readonly [number, number]): Match {
  let best: Match = { a: alo, b: blo, size: 0 };
  let lengths = new Map<number, number>();
  for (let i = alo; i < ahi; i += 1) {
    const next = new Map<number, number>();
    for (const j of places.get(a[i] ?? "") ?? []) {
      if (j < blo) continue;
      if (j >= bhi) break;
      const size = (lengths.get(j - 1) ?? 0) + 1;
      next.set(j, size);
      if (size > best.size) best = { a: i - size + 1, b: j - size + 1, size };
    }
    lengths = next;
  }
  let { a: startA, b: startB, size } = best;
  while (startA > alo && startB > blo && a[startA - 1] === b[startB - 1]) [startA, startB, size] = [startA - 1, startB - 1, size + 1];
  while (startA + size < ahi && startB + size < bhi && a[startA + size] === b[startB + size]) size += 1;
  return { a: startA, b: startB, size };
}
