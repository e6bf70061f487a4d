import { existsSync, mkdtempDisposableSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
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

  it("ends nothing that a program left in the background when it is cancelled after the program's end", async () => {
    const folder = mkdtempDisposableSync(join(tmpdir(), "voldeck-exec-"));
    onTestFinished(() => folder.remove());
    const file = join(folder.path, "pids");
    const stop = new AbortController();
    const script = 'sleep 60 & echo $$ $! > "$0.new"; mv "$0.new" "$0"';
    const running = new LinuxExec(log).run("sh", ["-c", script, file], { timeoutMs: 60_000, signal: stop.signal });
    while (!existsSync(file)) await setImmediate();
    const [program = "", child = ""] = readFileSync(file, "utf8").trim().split(" ");
    onTestFinished(() => void process.kill(Number(child), "SIGKILL"));
    while (existsSync(`/proc/${program}`)) await setImmediate();
    stop.abort();
    expect(await running).toMatchObject({ exitCode: 0, timedOut: false });
    expect(readFileSync(`/proc/${child}/cmdline`, "utf8")).toBe("sleep\x0060\0");
  });
});
