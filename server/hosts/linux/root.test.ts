import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { messageOf } from "@/lib/errors";
import { identityOf } from "./process-identity";
import { lockName, markerName, openDataFolder } from "./root";
import { isolatedFolder, removeFolder } from "./test-folder";

const hasNamespaces = spawnSync("unshare", ["-Urpf", "true"]).status === 0;

let folder = "";
let data = "";

beforeEach(() => {
  folder = isolatedFolder();
  data = join(folder, "d");
});
afterEach(() => removeFolder(folder));

/** Makes the data folder and gives it up again. */
async function made(): Promise<void> {
  await (await openDataFolder(data)).release();
}

async function lockOf(change: Readonly<Record<string, unknown>>): Promise<string> {
  return JSON.stringify({ ...(await identityOf(process.pid)), ...change });
}

describe("data folder", () => {
  it("is made with its marker when missing", async () => {
    await made();
    expect(readFileSync(join(data, markerName), "utf8")).toContain("voldeck");
  });

  it("is taken when it is empty, and opened again when it is ours", async () => {
    mkdirSync(data);
    await made();
    writeFileSync(join(data, "pods"), "");
    await made();
  });

  it("is refused when it is not empty and has no marker", async () => {
    mkdirSync(data);
    writeFileSync(join(data, "thesis.txt"), "x");
    await expect(openDataFolder(data)).rejects.toMatchObject({ code: "precondition", message: expect.stringContaining("is not empty") });
  });

  it("is refused with a kubelet's files, marker or not", async () => {
    await made();
    writeFileSync(join(data, "cpu_manager_state"), "{}");
    await expect(openDataFolder(data)).rejects.toMatchObject({ code: "precondition", message: expect.stringContaining("kubelet") });
  });

  it("is refused with a marker of another format", async () => {
    mkdirSync(data);
    writeFileSync(join(data, markerName), '{"application":"voldeck","format":2}\n');
    await expect(openDataFolder(data)).rejects.toMatchObject({ code: "precondition" });
  });

  it("is never the root of the file system, whatever link leads there", async () => {
    symlinkSync("/", data);
    await expect(openDataFolder(data)).rejects.toMatchObject({ code: "precondition" });
  });

  it("is refused by a relative path", async () => {
    await expect(openDataFolder("data")).rejects.toMatchObject({ code: "invalid" });
  });

  it("is refused when sockets in it would not fit, and tells how long a driver's name may be", async () => {
    await expect(openDataFolder(join(folder, "n".repeat(100)))).rejects.toMatchObject({ message: expect.stringContaining("too long") });
    const opened = await openDataFolder(data);
    const socket = `${opened.root}/plugins/${"n".repeat(opened.longestDriverName)}/csi.sock`;
    expect(Buffer.byteLength(socket)).toBe(107);
    await opened.release();
  });

  it("is refused to a second owner while the first lives, and free after", async () => {
    const first = await openDataFolder(data);
    await expect(openDataFolder(data)).rejects.toMatchObject({ message: `${data} is in use by process ${process.pid}` });
    await first.release();
    await made();
  });

  it("is taken over from a process that is gone, or whose pid is another's now", async () => {
    await made();
    for (const change of [{ pid: 2 ** 22 + 1 }, { startTime: "1" }, { bootId: "another boot" }]) {
      writeFileSync(join(data, lockName), await lockOf(change));
      await made();
    }
  });

  it("is taken over with a text in its lock that was cut short", async () => {
    await made();
    for (const text of ["", '{"pid":', "garbage"]) {
      writeFileSync(join(data, lockName), text);
      await made();
    }
  });

  it("is refused while a version runs that knew the text alone", async () => {
    await made();
    const other = spawn("sleep", ["60"]);
    writeFileSync(join(data, lockName), JSON.stringify(await identityOf(other.pid ?? 0)));
    await expect(openDataFolder(data)).rejects.toMatchObject({ code: "precondition", message: `${data} is in use by process ${other.pid}` });
    other.kill("SIGKILL");
    await once(other, "exit");
    await made();
  });

  it.skipIf(!hasNamespaces)("is refused while a process of another PID namespace holds it, and free when that is killed", async () => {
    await made();
    const lock = join(data, lockName);
    // Its number there is 1, which is another process here.
    writeFileSync(lock, await lockOf({ pid: 1 }));
    const script = 'exec flock --exclusive --nonblock --no-fork "$1" sh -c "echo held; exec sleep 60"';
    const other = spawn("unshare", ["-Urpf", "--kill-child", "sh", "-c", script, "sh", lock]);
    await once(other.stdout, "data");
    await expect(openDataFolder(data)).rejects.toMatchObject({ code: "precondition", message: expect.stringContaining("is in use by another process") });
    other.kill("SIGKILL");
    await expect.poll(() => made().then(() => "free", messageOf)).toBe("free");
  });

  it("goes to one of many that come at once", async () => {
    await made();
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => openDataFolder(data)));
    expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(1);
  });
});
