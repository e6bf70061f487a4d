import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Access } from "./access";
import { isolatedFolder, removeFolder } from "./test-folder";

let folder = "";

beforeEach(() => {
  folder = isolatedFolder();
  for (const name of ["data", "srv"]) mkdirSync(join(folder, name));
  symlinkSync("srv", join(folder, "alias"));
});
afterEach(() => removeFolder(folder));

describe("access", () => {
  it("holds the root, allowed paths and what is below", async () => {
    const access = await Access.create({ root: `${folder}/data`, allowedPaths: [`${folder}/srv`] });
    expect(access.place(`${folder}/data/pods/x`)).toBe(`${folder}/data/pods/x`);
    expect(access.place(`${folder}/srv`)).toBe(`${folder}/srv`);
    expect(access.place(`${folder}/srv2`)).toBeUndefined();
    expect(access.place(folder)).toBeUndefined();
    expect(access.place(`${folder}/data/../other`)).toBeUndefined();
  });

  it("undoes links above an allowed path", async () => {
    const access = await Access.create({ root: `${folder}/data`, allowedPaths: [`${folder}/alias`] });
    expect(access.place(`${folder}/alias/x`)).toBe(`${folder}/srv/x`);
    expect(access.place(`${folder}/srv/x`)).toBe(`${folder}/srv/x`);
  });

  it("allows a device by its name or by a link to it, and no other", async () => {
    symlinkSync("/dev/null", join(folder, "by-id"));
    const access = await Access.create({ root: `${folder}/data`, allowedDevices: [`${folder}/by-id`] });
    expect(await access.mayUseDevice("/dev/null")).toBe(true);
    expect(await access.mayUseDevice("/dev/zero")).toBe(false);
    expect(await access.mayUseDevice("/dev/loop-x")).toBe(false);
  });

  it("allows a source that is no path only word for word", async () => {
    const access = await Access.create({ root: `${folder}/data`, allowedDevices: ["srv:/export"] });
    expect(access.mayMountSource("srv:/export")).toBe(true);
    expect(access.mayMountSource("srv:/export/below")).toBe(false);
  });
});
