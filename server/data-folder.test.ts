import { chmodSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openDataFolder, sortEntries, writeToken } from "@/server/data-folder";
import { lockName, markerName } from "@/server/hosts/linux";
import { isolatedFolder, removeFolder } from "@/server/hosts/linux/test-folder";

const uid = process.getuid?.() ?? 0;

let folder = "";
let data = "";
beforeEach(() => {
  folder = isolatedFolder();
  data = join(folder, "d");
});
afterEach(() => removeFolder(folder));

describe("openDataFolder", () => {
  it("makes the folder for its owner alone, with the marker", async () => {
    const held = await openDataFolder(data, uid);
    expect(lstatSync(data).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(data, markerName), "utf8")).toContain("voldeck");
    await held.release();
  });

  it("is for one process at a time", async () => {
    const held = await openDataFolder(data, uid);
    await expect(openDataFolder(data, uid)).rejects.toMatchObject({ code: "precondition", message: expect.stringContaining("in use") });
    await held.release();
    await (await openDataFolder(data, uid)).release();
  });

  it("goes through a link to a folder of one's own", async () => {
    mkdirSync(join(folder, "real"));
    symlinkSync(join(folder, "real"), data);
    const held = await openDataFolder(data, uid);
    expect(held.root).toBe(join(folder, "real"));
    await held.release();
  });

  it.each([
    { name: "a folder of the system", path: () => "/etc" },
    { name: "the root of the file system", path: () => "/" },
    {
      name: "a folder that others may write to",
      path: () => {
        mkdirSync(data);
        chmodSync(data, 0o777);
        return data;
      },
    },
    {
      name: "a folder with somebody's files",
      path: () => {
        mkdirSync(data);
        writeFileSync(join(data, "thesis"), "x");
        return data;
      },
    },
    {
      name: "a file",
      path: () => {
        writeFileSync(data, "x");
        return data;
      },
    },
  ])("refuses $name, and writes nothing there", async ({ path }) => {
    const refused = path();
    await expect(openDataFolder(refused, uid)).rejects.toMatchObject({ code: "precondition" });
    expect(() => statSync(join(refused, markerName))).toThrow();
  });

  it("refuses another user's folder", async () => {
    mkdirSync(data);
    await expect(openDataFolder(data, uid + 1)).rejects.toMatchObject({ code: "precondition", message: expect.stringContaining("belongs to another user") });
  });
});

describe("sortEntries", () => {
  it("tells what Voldeck made from what it did not; the node goes first", () => {
    const names = ["token", "token.12", "notes", "node", markerName, lockName, `${lockName}.draft`, "tokens", "journal.sqlite-wal"];
    expect(sortEntries(names)).toEqual({ own: ["node", "token", "journal.sqlite-wal", "token.12"], others: ["notes", "tokens"] });
  });
});

describe("writeToken", () => {
  it("keeps a fresh token for its owner alone", async () => {
    mkdirSync(data);
    const first = await writeToken(data);
    const second = await writeToken(data);
    expect(first).not.toBe(second);
    expect(Buffer.from(second, "base64url")).toHaveLength(32);
    expect(readFileSync(join(data, "token"), "utf8")).toBe(`${second}\n`);
    expect(lstatSync(join(data, "token")).mode & 0o777).toBe(0o600);
  });
});
