import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { killsOf, points } from "@/e2e/crash/points";

/** The names in the sources, as they stand in the calls. */
function namesInSources(): readonly string[] {
  const files = ["server/node", "server/operations"].flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
  const texts = files.filter((file) => !file.endsWith(".test.ts")).map((file) => readFileSync(file, "utf8"));
  return texts.flatMap((text) => Array.from(text.matchAll(/\bpoint\("([^"]+)"\)/g), ([, name = ""]) => name));
}

const killedAt = Object.values(points).flat().flatMap(killsOf).map((point) => point.replace(/#\d+$/, ""));

describe("points to be killed at", () => {
  it("are all the named steps of the sources", () => {
    expect([...new Set(killedAt)].sort()).toEqual([...new Set(namesInSources())].sort());
  });

  it("say which operation, before or after which step", () => {
    expect(killedAt.filter((name) => !/^[a-z]+(-[a-z]+)*-(before|after)-[a-z]+(-[a-z]+)*$/.test(name))).toEqual([]);
  });
});
