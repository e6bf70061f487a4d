/**
 * `npm run test:user`: the Linux contract suite, and one browser test where the pages are built, as an ordinary user (uid 65534, no
 * groups, HOME and temporary folder of its own). As root it makes a copy that this user can reach, because a checkout may lie below
 * a closed folder, and removes it again; started by an ordinary user it runs in place. Fails when something is left behind.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { project } from "@/e2e/app";
import { removeFolder } from "@/server/hosts/linux/test-folder";

const uid = 65534;
const setpriv = ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"];
/** What a checkout has of its own, and what tools made in it. */
const notCopied = new Set([".git", ".next", "dist", "node_modules", "test-results"]);
const contract = ["server/hosts/linux", "server/reset.test.ts", "server/data-folder.test.ts"];
const browserTest = "e2e/specs/user.spec.ts";

interface Place {
  /** Where the project lies for this user. */
  readonly project: string;
  readonly home: string;
  readonly prefix: readonly string[];
}

function main(): number {
  if (process.getuid?.() !== 0) return runIn({ project, home: process.env["HOME"] ?? tmpdir(), prefix: [] });
  // Short: the paths of sockets below it are limited.
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "vd-user-"));
  try {
    chmodSync(folder, 0o755);
    const place = { project: join(folder, "copy"), home: join(folder, "home"), prefix: setpriv };
    copyProject(place.project);
    mkdirSync(place.home, { mode: 0o700 });
    chownSync(place.home, uid, uid);
    const code = runIn(place);
    const left = leftBehind(folder);
    for (const line of left) console.error(`left behind: ${line}`);
    return left.length > 0 ? 1 : code;
  } finally {
    removeFolder(folder);
  }
}

/** Sources are the user's own; packages, which are many and only read, are hard links where one file system holds both. */
function copyProject(to: string): void {
  mkdirSync(to);
  for (const name of readdirSync(project)) if (!notCopied.has(name)) copy(name, to, ["-a"]);
  if (statSync(project).dev === statSync(to).dev) copy("node_modules", to, ["-al"]);
  else copy("node_modules", to, ["-a"]);
  if (isBuilt()) {
    copy("dist", to, ["-a"]);
    mkdirSync(join(to, ".next"));
    for (const name of readdirSync(join(project, ".next"))) if (name !== "cache" && name !== "dev") copy(join(".next", name), to, ["-a"]);
  }
  for (const name of readdirSync(to)) if (name !== "node_modules") execFileSync("chown", ["-R", `${uid}:${uid}`, join(to, name)]);
  chownSync(to, uid, uid);
}

function copy(name: string, to: string, flags: readonly string[]): void {
  execFileSync("cp", [...flags, "--", join(project, name), join(to, name)]);
}

function isBuilt(): boolean {
  return existsSync(join(project, "dist/main.js")) && existsSync(join(project, ".next/BUILD_ID"));
}

/** Both parts are run, so that one failure does not hide another. */
function runIn(place: Place): number {
  const temporary = join(place.home, "t");
  const [program = "", ...before] = [...place.prefix, join(place.project, "node_modules/.bin/node")];
  const run = (args: readonly string[]) => {
    const env = { PATH: process.env["PATH"], HOME: place.home, TMPDIR: place.prefix.length > 0 ? temporary : tmpdir(), NODE_ENV: "test" as const };
    return spawnSync(program, [...before, ...args], { cwd: place.project, env, stdio: "inherit" }).status === 0;
  };
  if (place.prefix.length > 0) {
    mkdirSync(temporary);
    chownSync(temporary, uid, uid);
  }
  // Without a config loader of its own vitest writes beside its config, in packages that are not this user's.
  const passed = [run(["node_modules/vitest/vitest.mjs", "run", "--configLoader", "runner", ...contract])];
  if (isBuilt()) passed.push(run(["node_modules/@playwright/test/cli.js", "test", browserTest]));
  else console.log(`${browserTest}: skipped, the pages are not built (npm run build)`);
  return passed.every(Boolean) ? 0 : 1;
}

/** Processes that run something of the folder, and data folders that were not reset. */
function leftBehind(folder: string): readonly string[] {
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).flatMap((pid) => {
    const words = commandLine(pid);
    return words.includes(`${folder}/`) ? [`process ${pid}: ${words}`] : [];
  });
  const temporary = join(folder, "home/t");
  const folders = existsSync(temporary) ? readdirSync(temporary).filter((name) => /^(vd|voldeck)-/.test(name)) : [];
  return [...processes, ...folders.map((name) => join(temporary, name))];
}

/** "" for a process that is gone. */
function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}

process.exitCode = main();
