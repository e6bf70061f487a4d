import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, truncateSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openDataFolder } from "@/server/data-folder";
import { createLinuxHost, markerName, parseMountInfo, type HeldFolder, type LinuxHost } from "@/server/hosts/linux";
import { isolatedFolder, removeFolder } from "@/server/hosts/linux/test-folder";
import { MemoryLog } from "@/server/hosts/memory";
import { copySample, sampleRecordName } from "@/server/sample";
import { resetExit, runReset, type ResetTerminal } from "@/server/reset";

const isRoot = process.geteuid?.() === 0;
const uid = process.getuid?.() ?? 0;
const hasNamespaces = spawnSync("unshare", ["-Urm", "true"]).status === 0;

let folder = "";
let data = "";
beforeEach(() => {
  folder = isolatedFolder();
  data = join(folder, "d");
});
afterEach(() => removeFolder(folder));

/** What was printed, and the exit code. */
async function run(args: readonly string[], ask?: ResetTerminal["ask"]): Promise<{ code: number; text: string }> {
  const lines: string[] = [];
  const code = await runReset(["--data", data, ...args], { print: (text) => void lines.push(text), ...(ask ? { ask } : {}) });
  return { code, text: lines.join("\n") };
}

async function made(names: readonly string[] = ["apiserver"]): Promise<void> {
  await (await openDataFolder(data, uid)).release();
  for (const name of names) {
    mkdirSync(join(data, name));
    writeFileSync(join(data, name, "f"), "x");
  }
}

const mountedBelow = () => parseMountInfo(readFileSync("/proc/self/mountinfo", "utf8")).filter((row) => row.mountPoint.startsWith(folder));

/** A node that mounted a tmpfs at a pod's volume, and ended. */
async function nodeWithMount(mode: "root" | "user-namespace"): Promise<{ target: string; host: LinuxHost }> {
  const held: HeldFolder = await openDataFolder(data, uid);
  const host = await createLinuxHost({ root: join(data, "node"), log: new MemoryLog(), mode });
  const target = join(host.root, "pods/u/volumes/kubernetes.io~empty-dir/hot");
  mkdirSync(target, { recursive: true });
  await host.mounter.mount({ source: "tmpfs", target, fsType: "tmpfs", options: ["size=1m"] });
  await host.ports.files.writeFile(join(target, "f"), "x", 0o644);
  await host.close();
  await held.release();
  return { target, host };
}

/** The same, with a loop device that holds an empty file system and is not mounted. */
async function nodeWithDisk(): Promise<{ host: LinuxHost; disk: string; device: string }> {
  const { host } = await nodeWithMount("root");
  const disk = join(host.root, "disks/pvc-1.img");
  mkdirSync(join(host.root, "disks"));
  writeFileSync(disk, "");
  truncateSync(disk, 1 << 24);
  const device = await host.loop.attach(disk);
  execFileSync("mkfs.ext4", ["-q", device]);
  return { host, disk, device };
}

describe("reset", () => {
  it("has nothing to do where nothing is, and again after it removed all", async () => {
    expect(await run(["--yes"])).toMatchObject({ code: resetExit.done, text: expect.stringContaining("Nothing of Voldeck") });
    await made();
    expect(await run(["--yes"])).toMatchObject({ code: resetExit.done, text: expect.stringContaining("Removed") });
    expect(existsSync(data)).toBe(false);
    expect(await run(["--yes"])).toMatchObject({ code: resetExit.done });
  });

  it("shows the list and removes nothing where nobody can be asked", async () => {
    await made();
    const { code, text } = await run([]);
    expect(code).toBe(resetExit.unconfirmed);
    expect(text).toContain(join(data, "apiserver"));
    expect(existsSync(join(data, "apiserver/f"))).toBe(true);
  });

  it.each([
    { answer: "y", code: resetExit.done, left: false },
    { answer: " YES ", code: resetExit.done, left: false },
    { answer: "", code: resetExit.failed, left: true },
    { answer: "yesterday", code: resetExit.failed, left: true },
  ])("asks on a terminal: $answer", async ({ answer, code, left }) => {
    await made();
    expect((await run([], () => Promise.resolve(answer))).code).toBe(code);
    expect(existsSync(join(data, "apiserver"))).toBe(left);
  });

  it("refuses while a process holds the folder", async () => {
    await made();
    const held = await openDataFolder(data, uid);
    expect(await run(["--yes"])).toEqual({ code: resetExit.failed, text: `voldeck reset: ${held.root} is in use by process ${process.pid}` });
    await held.release();
    expect(existsSync(join(data, "apiserver/f"))).toBe(true);
  });

  it("refuses while a process holds the node's root alone", async () => {
    await made([]);
    const host = await createLinuxHost({ root: join(data, "node"), log: new MemoryLog(), mode: "root" });
    expect(await run(["--yes"])).toMatchObject({ code: resetExit.failed, text: expect.stringContaining("is in use") });
    await host.close();
  });

  it("refuses a folder without the marker", async () => {
    mkdirSync(join(data, "apiserver"), { recursive: true });
    expect(await run(["--yes"])).toMatchObject({ code: resetExit.failed, text: expect.stringContaining(`has no ${markerName}`) });
    expect(existsSync(join(data, "apiserver"))).toBe(true);
  });

  it("keeps what Voldeck did not make, and says so", async () => {
    await made(["apiserver", "thesis"]);
    const { code, text } = await run(["--yes"]);
    expect(code).toBe(resetExit.done);
    expect(text).toMatch(/kept .*thesis/);
    expect(existsSync(join(data, "apiserver"))).toBe(false);
    expect(existsSync(join(data, "thesis/f"))).toBe(true);
    await made([]);
  });

  describe("of a sample that a person edited", () => {
    const at = (name: string) => join(data, name);
    const left = () => readdirSync(data, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name)).sort();

    async function edit(): Promise<void> {
      await made();
      await copySample(process.cwd(), data);
      writeFileSync(at("manifests/10-web.yaml"), "mine");
      mkdirSync(at("manifests/more"));
      writeFileSync(at("manifests/more/own.yaml"), "mine");
      symlinkSync("/etc/hostname", at("flexvolume/link"));
    }

    it("removes it unasked where nothing was edited", async () => {
      await made();
      await copySample(process.cwd(), data);
      const { code, text } = await run(["--yes"]);
      expect(code).toBe(resetExit.done);
      expect(text).not.toContain("by you");
      expect(existsSync(data)).toBe(false);
    });

    it("keeps what is the person's with --yes, and says so", async () => {
      await edit();
      const { code, text } = await run(["--yes"]);
      expect(code).toBe(resetExit.done);
      expect(text).toMatch(new RegExp(`kept +${at("manifests/10-web.yaml")}  \\(changed by you\\)`));
      expect(text).toMatch(new RegExp(`kept +${at("manifests/more/own.yaml")}  \\(added by you\\)`));
      expect(text).toContain("Removed, but for what you changed or added");
      expect(left()).toEqual([at(markerName), at("flexvolume/link"), at("manifests/10-web.yaml"), at("manifests/more/own.yaml")].sort());
      expect(existsSync("/etc/hostname")).toBe(true);
      expect((await run(["--yes", "--all"])).code).toBe(resetExit.done);
      expect(existsSync(data)).toBe(false);
    });

    it("lists it apart before it asks, and removes it with the rest once that is confirmed", async () => {
      await edit();
      let question = "";
      const answer = (text: string) => (asked: string) => {
        question = asked;
        return Promise.resolve(text);
      };
      expect((await run([], answer("n"))).text).toMatch(new RegExp(`yours +${at("manifests/10-web.yaml")}  \\(changed by you\\)`));
      expect(question).toBe("Remove all of this, with the data in the volumes and the files that are yours? [y/N] ");
      expect(readFileSync(at("manifests/10-web.yaml"), "utf8")).toBe("mine");
      expect((await run([], answer("y"))).code).toBe(resetExit.done);
      expect(existsSync(data)).toBe(false);
    });

    it("takes all of it for the person's where no record tells how it came", async () => {
      await edit();
      unlinkSync(at(sampleRecordName));
      expect((await run(["--yes"])).code).toBe(resetExit.done);
      expect(existsSync(at("manifests/00-classes.yaml"))).toBe(true);
    });
  });

  it("finishes a delete that was cut short", async () => {
    await made([".voldeck-removed-0b8b5bd4-3a5e-4f6e-9a3e-2f4f0a0c7a11"]);
    expect((await run(["--yes"])).code).toBe(resetExit.done);
    expect(existsSync(data)).toBe(false);
  });

  it("names an unknown flag", async () => {
    expect(await run(["--force"])).toMatchObject({ code: resetExit.failed, text: expect.stringContaining("--force") });
  });

  it("shows names without control characters", async () => {
    await made(["\u001b[2J"]);
    expect((await run([])).text).not.toContain("\u001b");
  });
});

describe.skipIf(!isRoot)("reset as root", () => {
  it("unmounts what lies below pods", async () => {
    const { target } = await nodeWithMount("root");
    expect((await run([])).text).toContain(target);
    expect(await run(["--yes"])).toMatchObject({ code: resetExit.done });
    expect(mountedBelow()).toEqual([]);
    expect(existsSync(data)).toBe(false);
  });

  it("removes nothing where somebody else mounted", async () => {
    await nodeWithMount("root");
    const foreign = join(data, "manifests");
    mkdirSync(foreign);
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", foreign]);
    writeFileSync(join(foreign, "precious"), "x");
    expect(await run(["--yes"])).toMatchObject({ code: resetExit.failed, text: expect.stringContaining(`${foreign} is a mount that Voldeck did not make`) });
    expect(existsSync(join(foreign, "precious"))).toBe(true);
    expect(mountedBelow()).toHaveLength(2);
    execFileSync("umount", [foreign]);
    expect((await run(["--yes"])).code).toBe(resetExit.done);
  });

  it("removes nothing while a volume is in use, and all of it after", async () => {
    const { target } = await nodeWithMount("root");
    const user = execFileSync("sh", ["-c", `cd ${target}; sleep 60 >/dev/null 2>&1 & echo $!`], { encoding: "utf8" }).trim();
    expect(await run(["--yes"])).toMatchObject({ code: resetExit.failed, text: expect.stringContaining("busy") });
    expect(existsSync(join(target, "f"))).toBe(true);
    process.kill(Number(user), "SIGKILL");
    await expect.poll(async () => (await run(["--yes"])).code).toBe(resetExit.done);
  });

  it("detaches a loop device of which another namespace has copied the mount", async () => {
    const { host, device } = await nodeWithDisk();
    const target = join(host.root, "pods/u/volumes/kubernetes.io~local-volume/pvc-1");
    mkdirSync(target, { recursive: true });
    execFileSync("mount", [device, target]);
    const other = spawn("unshare", ["-m", "--propagation", "private", "sleep", "60"], { stdio: "ignore" });
    try {
      await expect.poll(() => readFileSync(`/proc/${other.pid}/comm`, "utf8")).toBe("sleep\n");
      expect(await run(["--yes"])).toMatchObject({ code: resetExit.done });
    } finally {
      other.kill("SIGKILL");
    }
    expect(await host.loop.list()).toEqual([]);
    expect(existsSync(data)).toBe(false);
  });

  it("detaches loop devices, and removes nothing while one is mounted elsewhere", async () => {
    const { host, disk, device } = await nodeWithDisk();
    const elsewhere = join(folder, "elsewhere");
    mkdirSync(elsewhere);
    execFileSync("mount", [device, elsewhere]);
    expect(await run(["--yes"])).toMatchObject({ code: resetExit.failed, text: expect.stringContaining(`${device} is mounted on ${elsewhere}`) });
    expect(await host.loop.find(disk)).toEqual([device]);
    execFileSync("umount", [elsewhere]);
    const { code, text } = await run(["--yes"]);
    expect({ code, listed: text.includes(device) }).toEqual({ code: resetExit.done, listed: true });
    expect(await host.loop.list()).toEqual([]);
    expect(existsSync(data)).toBe(false);
  });
});

describe.skipIf(!hasNamespaces)("reset of a user namespace", () => {
  it("ends the holder and what drivers left there", async () => {
    const { target, host } = await nodeWithMount("user-namespace");
    const driver = join(folder, "driver");
    writeFileSync(driver, "#!/bin/sh\nsleep 60 >/dev/null 2>&1 &\necho $!\n", { mode: 0o755 });
    const left = Number((await host.ports.exec.run(driver, [], { timeoutMs: 10_000 })).output.trim());
    const holder = host.namespace?.holderPid ?? 0;
    const { text } = await run([]);
    for (const listed of [target, String(holder), String(left)]) expect(text).toContain(listed);
    expect((await run(["--yes"])).code).toBe(resetExit.done);
    expect([existsSync(data), isAlive(holder), isAlive(left)]).toEqual([false, false, false]);
  });

  it("leaves a process alone that has the holder's pid now", async () => {
    const { host } = await nodeWithMount("user-namespace");
    const file = join(host.root, ".voldeck-namespace");
    const holder = host.namespace?.holderPid ?? 0;
    const kept = readFileSync(file, "utf8");
    writeFileSync(file, kept.replace(/"startTime":"\d+"/, '"startTime":"1"'));
    expect((await run([])).text).not.toContain(String(holder));
    writeFileSync(file, kept);
    expect((await run(["--yes"])).code).toBe(resetExit.done);
    expect(isAlive(holder)).toBe(false);
  });
});

/** A dead process that nobody has reaped yet counts as dead. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s*[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
