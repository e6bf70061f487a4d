import { describe, expect, it } from "vitest";
import { baseName, cleanPath, dirName, isPathWithin, joinPath } from "@/lib/go-path";

describe("cleanPath", () => {
  it.each([
    ["", "."],
    ["/", "/"],
    ["a//b/./c/", "a/b/c"],
    ["/a/../../b", "/b"],
    ["a/../../b", "../b"],
    ["..", ".."],
  ])("%s becomes %s", (path, clean) => {
    expect(cleanPath(path)).toBe(clean);
  });
});

describe("joinPath", () => {
  it.each([
    [["/a", "", "b"], "/a/b"],
    [["", ""], ""],
    [["/pods", "u", "volumes", "p", ".."], "/pods/u/volumes"],
    [["", "/b"], "/b"],
  ])("%j becomes %s", (elements, joined) => {
    expect(joinPath(...elements)).toBe(joined);
  });
});

describe("dirName and baseName", () => {
  it.each([
    ["/a/b", "/a", "b"],
    ["/a", "/", "a"],
    ["a", ".", "a"],
    ["", ".", "."],
    ["/a/b/", "/a/b", "b"],
    ["//", "/", "/"],
  ])("%s is %s and %s", (path, dir, base) => {
    expect([dirName(path), baseName(path)]).toEqual([dir, base]);
  });
});

describe("isPathWithin", () => {
  it.each([
    ["/a", "/a", true],
    ["/a/b", "/a", true],
    ["/ab", "/a", false],
    ["/a/../b", "/a", false],
    ["/x", "/", true],
  ])("%s within %s: %s", (path, base, within) => {
    expect(isPathWithin(path, base)).toBe(within);
  });
});
