import { mkdtempSync, readdirSync, readFileSync, rmdirSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { codeOf, messageOf } from "@/lib/errors";
import { openJournal } from "./journal";
import type { OperationRecord } from "./operation";

function journalPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "voldeck-journal-"));
  onTestFinished(() => {
    readdirSync(folder).forEach((name) => unlinkSync(join(folder, name)));
    rmdirSync(folder);
  });
  return join(folder, "journal.sqlite");
}

function record(id: string, startedAt: string): OperationRecord {
  const progress = { status: "working", sentence: "", steps: [], ended: false, next: [] } as const;
  const subject = { namespace: "shop", name: "data", uid: "u" };
  return { id, cluster: "c", verb: "expand-claim", subject, from: "1Gi", to: "2Gi", who: "me", startedAt, phase: "intended", progress };
}

const newYear = "2026-01-01T00:00:00.000Z";

/** A journal of many pages, closed: everything is in the one file. */
function filled(): string {
  const path = journalPath();
  const journal = openJournal(path);
  for (let number = 0; number < 40; number += 1) journal.begin(record(`op-${number}`, newYear), "x".repeat(2_000));
  journal.close();
  return path;
}

function failureOf(path: string): { readonly code: string | undefined; readonly message: string } {
  try {
    openJournal(path).close();
  } catch (error) {
    return { code: codeOf(error), message: messageOf(error) };
  }
  return { code: undefined, message: "it opened" };
}

describe("a journal's file", () => {
  const damages: { readonly name: string; readonly damage: (whole: Buffer) => Buffer }[] = [
    { name: "that is something else", damage: () => Buffer.from("not a database, by far ".repeat(500)) },
    { name: "with pages overwritten", damage: (whole) => Buffer.concat([whole.subarray(0, 8_192), Buffer.alloc(32_768, 0xff), whole.subarray(40_960)]) },
    { name: "that was cut off", damage: (whole) => whole.subarray(0, 10_000) },
  ];
  it.each(damages)("$name is refused with a clear sentence, and left as it is", ({ damage }) => {
    const path = filled();
    const damaged = damage(readFileSync(path));
    writeFileSync(path, damaged);
    const { code, message } = failureOf(path);
    expect(code).toBe("precondition");
    expect(message).toMatch(/^the journal of operations .*journal\.sqlite is damaged \(.+\)\. It is left as it is; move it away to begin with an empty one$/);
    expect(readFileSync(path).equals(damaged)).toBe(true);
  });

  it("is for its owner alone, and so is what stands beside it", () => {
    const path = journalPath();
    const journal = openJournal(path);
    journal.begin(record("op", newYear), "x");
    const modes = readdirSync(dirname(path)).map((name) => [name.slice("journal.sqlite".length), statSync(join(dirname(path), name)).mode & 0o777]);
    expect(Object.fromEntries(modes)).toEqual({ "": 0o600, "-shm": 0o600, "-wal": 0o600 });
    journal.close();
  });

  it("that another program keeps locked is said to be in use, and nothing is lost", () => {
    const path = filled();
    const other = new DatabaseSync(path);
    other.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT");
    expect(failureOf(path)).toEqual({ code: "precondition", message: `the journal of operations ${path} is in use by another program; end that one and start again` });
    other.close();
    const journal = openJournal(path);
    expect(journal.open()).toHaveLength(40);
    journal.close();
  });

  it("whose folder is missing is a clear sentence too", () => {
    const path = join(journalPath(), "journal.sqlite");
    expect(failureOf(path)).toEqual({ code: "precondition", message: `the journal of operations ${path} can't be opened: unable to open database file` });
  });

  it("of a later version is refused, and stays of that version", () => {
    const path = filled();
    const later = new DatabaseSync(path);
    later.exec("PRAGMA user_version = 99");
    later.close();
    expect(failureOf(path)).toEqual({ code: "precondition", message: expect.stringMatching(/^the journal of operations .* is of version 99, this Voldeck knows versions up to \d+; it was written by a newer one$/) });
    const again = new DatabaseSync(path);
    expect(again.prepare("PRAGMA user_version").get()).toEqual({ user_version: 99 });
    again.close();
  });

  it("of the first version is taken over with all that is in it", () => {
    const path = journalPath();
    const first = new DatabaseSync(path);
    first.exec(`
      CREATE TABLE operation (
        id TEXT PRIMARY KEY, cluster TEXT NOT NULL, started_at TEXT NOT NULL, phase TEXT NOT NULL, record TEXT NOT NULL
      ) STRICT;
      CREATE INDEX operation_by_start ON operation (cluster, started_at DESC);
      CREATE INDEX operation_open ON operation (phase) WHERE phase <> 'ended';
      CREATE TABLE entry (
        seq INTEGER PRIMARY KEY, operation TEXT NOT NULL REFERENCES operation (id), at TEXT NOT NULL, phase TEXT NOT NULL, note TEXT NOT NULL
      ) STRICT;
      CREATE INDEX entry_by_operation ON entry (operation, seq);
      PRAGMA user_version = 1`);
    const kept = record("old", newYear);
    first.prepare("INSERT INTO operation VALUES (?, ?, ?, ?, ?)").run(kept.id, kept.cluster, kept.startedAt, kept.phase, JSON.stringify(kept));
    first.prepare("INSERT INTO entry (operation, at, phase, note) VALUES (?, ?, ?, ?)").run(kept.id, kept.startedAt, kept.phase, "kept");
    first.close();
    for (const start of ["first", "second"]) {
      const journal = openJournal(path);
      expect(journal.open(), start).toEqual([kept]);
      expect(journal.list("c"), start).toEqual([kept]);
      expect(journal.entries("old"), start).toEqual([{ at: newYear, phase: "intended", note: "kept" }]);
      journal.close();
    }
  });

  it("is not taken over when it holds tables of somebody else", () => {
    const path = journalPath();
    const other = new DatabaseSync(path);
    other.exec("CREATE TABLE operation (theirs TEXT); INSERT INTO operation VALUES ('precious')");
    other.close();
    expect(failureOf(path)).toMatchObject({ code: "precondition", message: expect.stringMatching(/can't be opened: table operation already exists/) });
    const again = new DatabaseSync(path);
    expect(again.prepare("SELECT * FROM operation").all()).toEqual([{ theirs: "precious" }]);
    again.close();
  });
});

describe("a journal", () => {
  it("lists what began last first, and settles what began first first, whatever the clock said", () => {
    const journal = openJournal(journalPath());
    journal.begin(record("z-before", "2026-01-01T12:00:00.000Z"), "");
    journal.begin(record("m-after the clock was set back", "2026-01-01T11:00:00.000Z"), "");
    journal.begin(record("a-last", "2026-01-01T11:00:00.000Z"), "");
    expect(journal.list("c").map(({ id }) => id)).toEqual(["a-last", "m-after the clock was set back", "z-before"]);
    expect(journal.open().map(({ id }) => id)).toEqual(["z-before", "m-after the clock was set back", "a-last"]);
    journal.close();
  });

  it("keeps a line and its record together: neither is there when one can't be written", () => {
    const journal = openJournal(journalPath());
    const known = record("known", newYear);
    journal.begin(known, "");
    expect(() => journal.begin(known, "again")).toThrow(/^the journal of operations can't be written: UNIQUE constraint failed/);
    expect(() => journal.write(record("unknown", newYear), { at: newYear, phase: "read", note: "" })).toThrow(/can't be written/);
    expect(journal.entries("known")).toHaveLength(1);
    expect(journal.entries("unknown")).toEqual([]);
    journal.close();
  });
});
