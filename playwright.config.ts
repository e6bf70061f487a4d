import { defineConfig } from "@playwright/test";
import { pathOf } from "@/server/doctor";

const chromiumArgs = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export default defineConfig({
  testDir: "e2e/specs",
  outputDir: "test-results",
  globalSetup: "./e2e/leftovers.ts",
  fullyParallel: false,
  workers: 1,
  retries: 0,
  forbidOnly: process.env["CI"] !== undefined,
  timeout: 60_000,
  expect: { timeout: 15_000 },
  reporter: [["list"], ["json", { outputFile: "dist/reports/browser.json" }]],
  use: {
    launchOptions: { executablePath: pathOf("chromium") ?? "/usr/bin/chromium", args: chromiumArgs },
    trace: "retain-on-failure",
    screenshot: "only-on-failure",
  },
});
