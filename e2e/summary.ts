/** Adds up what vitest and Playwright wrote of their last runs, as one plain line. Exits 1 when either is missing or failed. */
import { readFileSync } from "node:fs";

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** vitest --reporter=json */
interface UnitReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests?: number;
}

/** Playwright's json reporter. */
interface BrowserReport {
  readonly stats: { readonly expected: number; readonly unexpected: number; readonly flaky: number; readonly skipped: number };
}

function read<T>(path: string): T {
  return JSON.parse(readFileSync(path, "utf8")) as T;
}

function unit(path: string): Counts {
  const report = read<UnitReport>(path);
  return { passed: report.numPassedTests, failed: report.numFailedTests, skipped: report.numPendingTests + (report.numTodoTests ?? 0) };
}

/** A flaky test is a broken one. */
function browser(path: string): Counts {
  const { expected, unexpected, flaky, skipped } = read<BrowserReport>(path).stats;
  return { passed: expected, failed: unexpected + flaky, skipped };
}

const all = [unit("dist/reports/unit.json"), browser("dist/reports/browser.json")];
const sum = (of: (counts: Counts) => number) => all.reduce((total, counts) => total + of(counts), 0);
console.log(`${sum(({ passed }) => passed)} passed, ${sum(({ failed }) => failed)} failed, ${sum(({ skipped }) => skipped)} skipped`);
if (sum(({ failed }) => failed) > 0 || sum(({ passed }) => passed) === 0) process.exitCode = 1;
