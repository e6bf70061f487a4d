import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { alias: { "@": fileURLToPath(new URL(".", import.meta.url)) } },
  test: {
    include: ["{app,components,lib,server}/**/*.test.{ts,tsx}", "e2e/{crash,goldens,house}/*.test.ts"],
    testTimeout: 20_000,
    // One second, the default, is too short for a program to start on a machine that is busy.
    expect: { poll: { timeout: 15_000 } },
  },
});
