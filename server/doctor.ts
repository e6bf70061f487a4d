/**
 * What this machine has of what Voldeck uses: one table, shown by `npm start` and `npm run doctor`. With `--install` what is
 * missing is installed where this is root on Debian; else the one command to run is printed. Run by Node directly, before
 * anything is built: it imports Node's own modules only.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

export interface Finding {
  readonly what: string;
  readonly state: "ok" | "missing" | "limited";
  readonly detail: string;
  /** What it is needed for: `run` things limit `npm start`, `test` things only the tests. */
  readonly neededFor: "run" | "test";
  /** The Debian package that brings it. */
  readonly debianPackage?: string;
}

export const minimalNode = [22, 19] as const;

export function nodeIsNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.replace(/^v/, "").split(".").map(Number);
  return major > minimalNode[0] || (major === minimalNode[0] && minor >= minimalNode[1]);
}

export function examine(): readonly Finding[] {
  return [
    node(),
    program({ what: "mount", file: "mount", neededFor: "run", debianPackage: "mount" }),
    mountRights(),
    loopDevices(),
    program({ what: "mkfs.xfs", file: "mkfs.xfs", neededFor: "run", debianPackage: "xfsprogs" }),
    program({ what: "mkfs.ext4", file: "mkfs.ext4", neededFor: "run", debianPackage: "e2fsprogs" }),
    program({ what: "Chromium", file: "chromium", neededFor: "test", debianPackage: "chromium" }),
  ];
}

function node(): Finding {
  const ok = nodeIsNewEnough(process.version);
  return {
    what: "Node",
    state: ok ? "ok" : "missing",
    detail: ok ? process.version : `${process.version} is too old, ${minimalNode.join(".")} or newer is needed: use npm scripts`,
    neededFor: "run",
  };
}

/** Only root has them, and a container may keep them from root as well. */
function loopDevices(): Finding {
  const found = program({ what: "loop devices", file: "losetup", neededFor: "run", debianPackage: "mount" });
  if (found.state === "missing") return found;
  if (process.getuid?.() !== 0) return { ...found, state: "limited", detail: "needs root: claims that want a disk stay unmounted" };
  const tried = spawnSync(found.detail, ["--find"], { encoding: "utf8", timeout: 10_000 });
  if (tried.status === 0) return { ...found, detail: `${found.detail}, ${tried.stdout.trim()} is free` };
  const words = (tried.error?.message ?? tried.stderr).trim().split("\n")[0] ?? "";
  return { ...found, state: "limited", detail: `none can be had (${words}): claims that want a disk stay unmounted` };
}

const searchPath = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/** Where a program lies that a package manager installs; undefined where it lies in none of these folders. */
export function pathOf(file: string): string | undefined {
  return searchPath.map((folder) => `${folder}/${file}`).find((path) => existsSync(path));
}

function program(wanted: { what: string; file: string; neededFor: Finding["neededFor"]; debianPackage: string }): Finding {
  const found = pathOf(wanted.file);
  const { what, neededFor, debianPackage } = wanted;
  if (found !== undefined) return { what, state: "ok", detail: found, neededFor, debianPackage };
  return { what, state: "missing", detail: `${wanted.file} was not found`, neededFor, debianPackage };
}

/** Root mounts directly; anybody else needs a user and mount namespace. */
function mountRights(): Finding {
  const what = "mount rights";
  const probe = process.getuid?.() === 0 ? ["--mount"] : ["-Urm"];
  const tried = spawnSync("unshare", [...probe, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], { encoding: "utf8", timeout: 10_000 });
  if (tried.status === 0) {
    const how = process.getuid?.() === 0 ? "root: mounts directly" : "user namespace: no block file systems, no other owners";
    return { what, state: process.getuid?.() === 0 ? "ok" : "limited", detail: how, neededFor: "run" };
  }
  const words = (tried.error?.message ?? tried.stderr).trim().split("\n")[0] ?? "";
  return { what, state: "missing", detail: `neither root nor a user namespace can mount here (${words}): use --simulated`, neededFor: "run" };
}

export function table(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map((finding) => finding.what.length));
  return findings.map((finding) => `  ${finding.what.padEnd(width)}  ${finding.state.padEnd(7)}  ${finding.detail}`).join("\n");
}

export function missingPackages(findings: readonly Finding[]): readonly string[] {
  const missing = findings.filter((finding) => finding.state === "missing" && finding.debianPackage !== undefined);
  return [...new Set(missing.map((finding) => finding.debianPackage ?? ""))];
}

export function installCommand(packages: readonly string[]): string {
  return `apt-get update && apt-get install -y --no-install-recommends ${packages.join(" ")}`;
}

function isDebian(): boolean {
  const release = existsSync("/etc/os-release") ? readFileSync("/etc/os-release", "utf8") : "";
  return /^ID(_LIKE)?=.*debian/m.test(release);
}

function install(packages: readonly string[]): boolean {
  console.log(`Installing ${packages.join(", ")} from Debian`);
  const result = spawnSync("sh", ["-c", installCommand(packages)], {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
  return result.status === 0;
}

/** Exit code 1 when something that is needed is missing and could not be installed. */
function main(args: readonly string[]): number {
  let findings = examine();
  const packages = missingPackages(findings);
  if (packages.length > 0) {
    if (args.includes("--install") && process.getuid?.() === 0 && isDebian()) {
      if (install(packages)) findings = examine();
    } else {
      console.log(`Missing programs: as root, run\n  ${installCommand(packages)}`);
    }
  }
  console.log(table(findings));
  return findings.some((finding) => finding.state === "missing") ? 1 : 0;
}

if (import.meta.main) process.exitCode = main(process.argv.slice(2));
