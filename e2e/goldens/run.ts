/**
 * Asks our code what the golden lines asked Kubernetes, and compares the answers.
 *
 *   npx tsx e2e/goldens/run.ts [FOLDER | FILE]
 *
 * Reads every `.jsonl` and `.jsonl.gz` below the folder (default: the data beside this file). A file's base name is its family and
 * names the adapter. Prints the first differences, one row per file, the reasons for what is unsupported, and last the counts.
 * Exit codes: 0 no difference, 1 a difference, 2 a folder or line that cannot be read.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import type { Adapter, Answer, GoldenLine } from "@/e2e/goldens/adapter";
import { firstDifference } from "@/e2e/goldens/compare";
import { isReason, reasons, unsupportedFamilies, type Reason } from "@/e2e/goldens/unsupported";
import { messageOf } from "@/lib/errors";

const here = path.dirname(fileURLToPath(import.meta.url));
const shownPerFile = 5;
const shownCharacters = 600;

interface FileResult {
  readonly name: string;
  equal: number;
  different: number;
  unsupported: Map<Reason, number>;
}

function goldenFiles(root: string): string[] {
  if (statSync(root).isFile()) return [root];
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.jsonl(\.gz)?$/.test(name))
    .sort()
    .map((name) => path.join(root, name));
}

function readLines(file: string): GoldenLine[] {
  const bytes = readFileSync(file);
  const text = (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  return text.split("\n").flatMap((line, index) => (line.trim() === "" ? [] : [parseLine(line, `${file}:${index + 1}`)]));
}

function parseLine(text: string, where: string): GoldenLine {
  let line: unknown;
  try {
    line = JSON.parse(text);
  } catch (error) {
    throw new Error(`${where}: not JSON: ${messageOf(error)}`);
  }
  if (!isGoldenLine(line)) throw new Error(`${where}: id and fn must be texts and in an object`);
  return line;
}

function isGoldenLine(value: unknown): value is GoldenLine {
  if (typeof value !== "object" || value === null || !("id" in value && "fn" in value && "in" in value)) return false;
  return typeof value.id === "string" && typeof value.fn === "string" && typeof value.in === "object" && value.in !== null;
}

/** `finders.jsonl.gz` and `finders-more.jsonl` are both of the family `finders`. */
function familyOf(file: string): string {
  return /^\w+/.exec(path.basename(file))?.[0] ?? "";
}

async function loadAdapter(family: string): Promise<Adapter | undefined> {
  const file = ["volume", "api"].map((area) => path.join(here, area, `${family}.ts`)).find((name) => existsSync(name));
  if (!file) return undefined;
  const loaded: { adapter?: Adapter } = await import(pathToFileURL(file).href).catch((error: unknown) => {
    throw new Error(`${file}: ${messageOf(error)}`, { cause: error });
  });
  if (!loaded.adapter) throw new Error(`${file}: exports no adapter`);
  return loaded.adapter;
}

function whyUnsupported(family: string, adapter: Adapter, line: GoldenLine): Reason | undefined {
  const reason = adapter.unsupported?.(line);
  if (reason !== undefined && !isReason(reason)) throw new Error(`${family}: the reason "${reason}" is not in unsupported.ts`);
  return reason;
}

/** The line's answer alone. A success without a value and a nil are the same; what a crash left behind is not asked. */
function comparable(answer: Partial<GoldenLine>): Record<string, unknown> {
  return {
    out: answer.out ?? undefined,
    err: answer.err ?? undefined,
    panic: answer.panic,
    message: answer.message,
    isNoPluginMatched: answer.isNoPluginMatched,
  };
}

async function ask(adapter: Adapter, line: GoldenLine): Promise<Answer> {
  try {
    return await adapter.answer(line);
  } catch (error) {
    return { out: `the adapter threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}` };
  }
}

async function runFile(file: string, name: string): Promise<FileResult> {
  const result: FileResult = { name, equal: 0, different: 0, unsupported: new Map() };
  const family = familyOf(file);
  const lines = readLines(file);
  const adapter = await loadAdapter(family);
  for (const line of lines) {
    const reason = adapter ? whyUnsupported(family, adapter, line) : (unsupportedFamilies[family] ?? reasons.unknownFamily);
    if (!adapter || reason) {
      if (reason) result.unsupported.set(reason, (result.unsupported.get(reason) ?? 0) + 1);
      continue;
    }
    const difference = firstDifference(comparable(line), comparable(await ask(adapter, line)));
    if (!difference) {
      result.equal += 1;
      continue;
    }
    result.different += 1;
    if (result.different > shownPerFile) continue;
    console.log(`${line.id} ${line.fn} differs at ${difference.path}`);
    console.log(`  expected ${shorten(difference.expected)}`);
    console.log(`  got      ${shorten(difference.got)}`);
  }
  return result;
}

function shorten(value: unknown): string {
  const text = JSON.stringify(value, (_key, part: unknown) => (typeof part === "bigint" ? `${part}n` : part)) ?? "nothing";
  return text.length <= shownCharacters ? text : `${text.slice(0, shownCharacters)}...`;
}

const sum = (counts: Iterable<number>): number => [...counts].reduce((total, count) => total + count, 0);

function report(results: readonly FileResult[]): void {
  const width = Math.max(...results.map(({ name }) => name.length));
  const why = new Map<Reason, number>();
  console.log(`${"file".padEnd(width)}   equal  different  unsupported`);
  for (const { name, equal, different, unsupported } of results) {
    const left = sum(unsupported.values());
    console.log(`${name.padEnd(width)}  ${String(equal).padStart(6)}  ${String(different).padStart(9)}  ${String(left).padStart(11)}`);
    for (const [reason, count] of unsupported) why.set(reason, (why.get(reason) ?? 0) + count);
  }
  for (const [reason, count] of why) console.log(`unsupported ${count}: ${reason}`);
  const equal = sum(results.map((result) => result.equal));
  const different = sum(results.map((result) => result.different));
  console.log(`${equal + different} compared, ${equal} equal, ${different} different, ${sum(why.values())} unsupported`);
}

async function main(root: string): Promise<number> {
  const files = goldenFiles(root);
  if (files.length === 0) throw new Error(`${root}: no .jsonl or .jsonl.gz file below it`);
  const base = statSync(root).isFile() ? path.dirname(root) : root;
  const results: FileResult[] = [];
  for (const file of files) results.push(await runFile(file, path.relative(base, file)));
  report(results);
  return results.some(({ different }) => different > 0) ? 1 : 0;
}

try {
  process.exitCode = await main(path.resolve(process.argv[2] ?? path.join(here, "data")));
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 2;
}
