import { mkdtempSync, readdirSync, readFileSync, rmdirSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { codeOf, messageOf } from "@/lib/errors";
import { Store } from "./store";

const key = { group: "", resource: "configmaps", namespace: "shop", name: "settings" };

function filled(): string {
  const folder = mkdtempSync(join(tmpdir(), "voldeck-objects-"));
  onTestFinished(() => {
    readdirSync(folder).forEach((name) => unlinkSync(join(folder, name)));
    rmdirSync(folder);
  });
  const file = join(folder, "objects.sqlite");
  const store = new Store({ file });
  store.put(key, { metadata: { name: "settings" }, data: { text: "x".repeat(50_000) } });
  store.close();
  return file;
}

function failureOf(file: string): { readonly code: string | undefined; readonly message: string } {
  try {
    new Store({ file }).close();
  } catch (error) {
    return { code: codeOf(error), message: messageOf(error) };
  }
  return { code: undefined, message: "it opened" };
}

describe("the file of objects", () => {
  const damages: { readonly name: string; readonly damage: (whole: Buffer) => Buffer }[] = [
    { name: "that is something else", damage: () => Buffer.from("not a database, by far ".repeat(500)) },
    { name: "with pages overwritten", damage: (whole) => Buffer.concat([whole.subarray(0, 4_096), Buffer.alloc(whole.length - 4_096, 0xff)]) },
    { name: "that was cut off", damage: (whole) => whole.subarray(0, 10_000) },
  ];
  it.each(damages)("$name is refused with a clear sentence, and left as it is", ({ damage }) => {
    const file = filled();
    const damaged = damage(readFileSync(file));
    writeFileSync(file, damaged);
    const { code, message } = failureOf(file);
    expect(code).toBe("precondition");
    expect(message).toMatch(/^the object store .*objects\.sqlite is damaged \(.+\)\. It is left as it is; move it away to begin with an empty one$/);
    expect(readFileSync(file).equals(damaged)).toBe(true);
  });

  it("is for its owner alone: it holds secrets", () => {
    expect(statSync(filled()).mode & 0o777).toBe(0o600);
  });

  it("that another program keeps locked is said to be in use, and nothing is lost", () => {
    const file = filled();
    const other = new DatabaseSync(file);
    other.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT");
    expect(failureOf(file)).toEqual({ code: "precondition", message: `the object store ${file} is in use by another program; end that one and start again` });
    other.close();
    const store = new Store({ file });
    expect(store.get(key)).toBeDefined();
    store.close();
  });
});
