import { describe, expect, it } from "vitest";
import { asMountPoint, mountOf, mountsAtOrBelow, searchMountPoints, topMountAt } from "@/server/hosts/mount-queries";
import { isDeletedBind, isForeignMount, parseMountInfo } from "./mount-table";

const table = parseMountInfo(
  [
    "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard",
    "40 27 0:40 / /data rw,relatime shared:1 master:2 propagate_from:3 - tmpfs tmpfs rw,size=20480k",
    "41 40 0:41 / /data rw,nosuid unbindable - xfs /dev/loop0 rw",
    "42 27 254:0 /srv/my\\040dir /mnt/a\\011b\\134c rw - ext4 /dev/vda rw",
    "43 27 254:0 /gone//deleted /mnt/gone rw - ext4 /dev/vda rw",
    "44 27 0:50 / /mnt/nfs rw - nfs4 srv:/e rw,addr=10.0.0.1",
    "45 27 254:0 /srv/my\\040dir/in /mnt/in ro - ext4 /dev/vda rw",
    "46 27 0:51 / /mnt/none rw - tmpfs  rw",
    "not a row",
    "",
  ].join("\n"),
);

describe("mountinfo", () => {
  it("reads every row and skips what is none", () => {
    expect(table.map((row) => row.id)).toEqual([27, 40, 41, 42, 43, 44, 45, 46]);
  });

  it("undoes octal escapes in paths", () => {
    expect(table[3]).toMatchObject({ root: "/srv/my dir", mountPoint: "/mnt/a\tb\\c" });
  });

  it("keeps any number of optional fields", () => {
    expect(table[0]?.propagation).toEqual([]);
    expect(table[1]?.propagation).toEqual(["shared:1", "master:2", "propagate_from:3"]);
  });

  it("takes the last row of a mount point as the one on top", () => {
    expect(topMountAt(table, "/data")?.fsType).toBe("xfs");
    expect(mountOf(table, "/data/below")?.id).toBe(41);
  });

  it("knows a bind whose source is gone", () => {
    expect(table.filter(isDeletedBind).map((row) => row.mountPoint)).toEqual(["/mnt/gone"]);
  });

  it("takes network file systems and unknown types as foreign", () => {
    expect(table.filter(isForeignMount).map((row) => row.id)).toEqual([44]);
    expect(parseMountInfo("1 1 0:1 / /x rw - fuse.sshfs me rw").filter(isForeignMount)).toHaveLength(1);
  });

  it("reads an empty source", () => {
    expect(table[7]).toMatchObject({ source: "", superOptions: ["rw"] });
  });

  it("finds other mounts of the same part of a file system", () => {
    expect(searchMountPoints(table, "/srv/my dir")).toEqual(["/mnt/a\tb\\c"]);
    expect(searchMountPoints(table, "/mnt/a\tb\\c/in")).toEqual(["/mnt/in"]);
    expect(searchMountPoints(table, "/srv")).toEqual([]);
  });

  it("throws for a path that no row holds", () => {
    expect(() => searchMountPoints([], "/x")).toThrow("failed to get root path and major:minor for /x");
  });

  it("finds mounts at or below a path, and not beside it", () => {
    expect(mountsAtOrBelow(table, "/mnt/n")).toEqual([]);
    expect(mountsAtOrBelow(table, "/data")).toEqual(["/data", "/data"]);
  });

  it("shows a row as /proc/mounts does", () => {
    expect(asMountPoint(table[1] ?? never())).toEqual({ device: "tmpfs", path: "/data", type: "tmpfs", options: ["rw", "relatime", "size=20480k"] });
  });
});

function never(): never {
  throw new Error("the row is there");
}
