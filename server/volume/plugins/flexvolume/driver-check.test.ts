import { describe, expect, it } from "vitest";
import { createMemoryHost, type Seed } from "@/server/hosts/memory";
import { newDriverCheck } from "@/server/volume/plugins/flexvolume/driver-check";

const driver = "/tmp/own/plugins/v~d/d";
const own = 1000;

/** A safe tree: root's folders, a sticky /tmp, below it folders and a driver of the user. */
const safe: Readonly<Record<string, Seed>> = {
  "/tmp": { kind: "directory", mode: 0o1777 },
  "/tmp/own": { kind: "directory", mode: 0o700, uid: own },
  "/tmp/own/plugins": { kind: "directory", mode: 0o755, uid: own },
  "/tmp/own/plugins/v~d": { kind: "directory", mode: 0o755, uid: own },
  [driver]: { kind: "file", mode: 0o755, uid: own },
};

function check(files: Readonly<Record<string, Seed>>, executable = driver): Promise<void> {
  const memory = createMemoryHost({ files: { ...safe, ...files } });
  return newDriverCheck(memory.files, [0, own])(executable);
}

describe("the driver check", () => {
  it.each([
    ["everything is the user's or root's", {}, driver],
    ["the driver is missing", {}, "/tmp/own/plugins/v~d/none"],
    ["the driver is a link to a safe file", { "/tmp/own/plugins/v~d/l": { kind: "symlink", target: driver, uid: own } }, "/tmp/own/plugins/v~d/l"],
  ] as const)("passes when %s", async (_name, files, executable) => {
    await expect(check(files, executable)).resolves.toBeUndefined();
  });

  it.each([
    ["the driver is another's", { [driver]: { kind: "file", mode: 0o755, uid: 7 } }, "it belongs to user 7"],
    ["others may write to the driver", { [driver]: { kind: "file", mode: 0o757, uid: own } }, "others may write to it (mode 0757)"],
    ["its group may write to it", { [driver]: { kind: "file", mode: 0o775, uid: own } }, "others may write to it (mode 0775)"],
    [
      "others may write to its folder",
      { "/tmp/own/plugins/v~d": { kind: "directory", mode: 0o777, uid: own } },
      "/tmp/own/plugins/v~d: others may write to it (mode 0777)",
    ],
    [
      "a folder further up is another's",
      { "/tmp/own": { kind: "directory", mode: 0o700, uid: 7 } },
      "/tmp/own: it belongs to user 7",
    ],
    [
      "a folder for all is not sticky",
      { "/tmp": { kind: "directory", mode: 0o777 } },
      "/tmp: others may write to it (mode 0777)",
    ],
    [
      "a sticky folder is not root's",
      { "/tmp/own": { kind: "directory", mode: 0o1777, uid: own } },
      "/tmp/own: others may write to it (mode 1777)",
    ],
  ] as const)("refuses when %s", async (_name, files, why) => {
    await expect(check(files)).rejects.toMatchObject({ code: "refused", message: `driver ${driver} is not run: ${why}` });
  });

  it("looks at what a link leads to", async () => {
    const link = "/tmp/own/plugins/v~d/l";
    const files: Readonly<Record<string, Seed>> = {
      [link]: { kind: "symlink", target: "/srv/open", uid: own },
      "/srv/open": { kind: "file", mode: 0o777 },
    };
    await expect(check(files, link)).rejects.toThrow("driver /srv/open is not run: others may write to it (mode 0777)");
  });
});
