/**
 * Drives the built app against the cluster of VOLDECK_TEST_KUBECONFIG; exit 2 for one that is not marked as a test cluster. Last line
 * `N passed, N failed, N skipped`. Arguments go to Playwright.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, unlinkSync } from "node:fs";
import { refused, testKubeconfig } from "./test-cluster";

interface Report {
  readonly stats: { readonly expected: number; readonly unexpected: number; readonly flaky: number; readonly skipped: number };
}

const reportPath = "dist/reports/cluster.json";

async function main(): Promise<number> {
  if ((await testKubeconfig(process.env)) === undefined) return refused;
  if (existsSync(reportPath)) unlinkSync(reportPath);
  const args = ["playwright", "test", "--config", "playwright.cluster.config.ts", ...process.argv.slice(2)];
  const { status } = spawnSync("npx", args, { stdio: "inherit" });
  if (!existsSync(reportPath)) {
    console.error("Playwright wrote no report");
    return status || 1;
  }
  const { expected, unexpected, flaky, skipped } = (JSON.parse(readFileSync(reportPath, "utf8")) as Report).stats;
  console.log(`${expected} passed, ${unexpected + flaky} failed, ${skipped} skipped`);
  return status !== 0 || unexpected + flaky > 0 || expected === 0 ? status || 1 : 0;
}

process.exitCode = await main();
