import { describe, expect, it } from "vitest";
import { LinuxExec } from "./exec";

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const mebibyte = 1 << 20;

describe("LinuxExec", () => {
  it("keeps no output past the limit in memory, however much a program writes", async () => {
    const startBytes = process.memoryUsage().arrayBuffers;
    let mostBytes = 0;
    const timer = setInterval(() => {
      mostBytes = Math.max(mostBytes, process.memoryUsage().arrayBuffers - startBytes);
    }, 5);
    const result = await new LinuxExec(log).run("head", ["-c", "600M", "/dev/zero"], { timeoutMs: 60_000, maxOutputBytes: 1000 });
    clearInterval(timer);
    expect(result).toMatchObject({ exitCode: 0, truncated: true, output: "\0".repeat(1000) });
    expect(mostBytes).toBeGreaterThan(0);
    expect(mostBytes).toBeLessThan(300 * mebibyte);
  }, 90_000);
});
