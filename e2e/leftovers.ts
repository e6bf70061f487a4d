/**
 * A run of the browser tests leaves nothing behind: no data folder, mount, loop device or process. Setup gives the run a name
 * that its data folders carry (app.ts), teardown looks for that name and fails when it is still somewhere.
 */
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dataFolderPrefix } from "@/e2e/app";

export default function setUp(): () => void {
  process.env["VOLDECK_E2E_RUN"] = `${process.pid}-`;
  return () => {
    const left = leftovers(dataFolderPrefix());
    if (left.length > 0) throw new Error(`the run left behind:\n${left.join("\n")}`);
  };
}

/** What begins with a path, or holds it: one line each. */
function leftovers(prefix: string): readonly string[] {
  const folder = readdirSync(tmpdir()).map((name) => join(tmpdir(), name));
  const mounts = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  const loops = readdirSync("/sys/block").filter((name) => name.startsWith("loop")).map((name) => `${name} ${read(`/sys/block/${name}/loop/backing_file`)}`);
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map((pid) => `${pid} ${read(`/proc/${pid}/cmdline`).replaceAll("\0", " ")}`);
  const kinds = { folder, mount: mounts, "loop device": loops, process: processes };
  return Object.entries(kinds).flatMap(([kind, lines]) => lines.filter((line) => line.includes(prefix)).map((line) => `${kind}: ${line.trim()}`));
}

/** What goes while it is looked at is not left. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
