/** Browser tests beside a real cluster: `npm run test:cluster`. */
import { defineConfig } from "@playwright/test";
import browser from "./playwright.config";

export default defineConfig({
  ...browser,
  testDir: "e2e/cluster",
  // Of its own: a run of the other browser tests clears theirs.
  outputDir: "dist/test-results-cluster",
  timeout: 180_000,
  reporter: [["list"], ["json", { outputFile: "dist/reports/cluster.json" }]],
});
