/**
 * The journal of operations, in SQLite. Every line is written, synchronously and whole, before what it announces is done:
 * intent, object read, sending, answer, follow, end. What survives a kill is what was true.
 */
import { chmodSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { inTransaction, lockWaitMs, openingError, requireWhole } from "@/lib/database";
import { AppError, messageOf } from "@/lib/errors";
import type { OperationPhase, OperationRecord } from "./operation";

export interface JournalEntry {
  readonly at: string;
  readonly phase: OperationPhase;
  /** What was read, sent or answered, in words; never a secret. */
  readonly note: string;
}

export interface Journal {
  /** The intent: nothing was read or sent yet. */
  begin(record: OperationRecord, note: string): void;
  /** Replaces the record and adds a line about it. */
  write(record: OperationRecord, entry: JournalEntry): void;
  get(id: string): OperationRecord | undefined;
  entries(id: string): readonly JournalEntry[];
  /** Newest first. */
  list(cluster: string): readonly OperationRecord[];
  /** What has not ended, oldest first, over all clusters. */
  open(): readonly OperationRecord[];
  close(): void;
}

/**
 * Makes the file when there is none, and brings one of an older version to this one. Throws AppError `precondition`, the file left as
 * it is: damaged, in use, of a later version, or whatever SQLite says.
 */
export function openJournal(path: string): Journal {
  const what = `the journal of operations ${path}`;
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: lockWaitMs });
    requireWhole(database, what);
    requireKnownVersion(database, what);
    // SQLite gives the files beside it the same mode.
    chmodSync(path, 0o600);
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
    migrate(database);
    return journalOf(database);
  } catch (error) {
    database?.close();
    throw openingError(what, error);
  }
}

function journalOf(database: DatabaseSync): Journal {
  const statements = prepare(database);
  const add = (id: string, entry: JournalEntry) => statements.addEntry.run(id, entry.at, entry.phase, entry.note);
  const write = (act: () => void) => {
    try {
      inTransaction(database, act);
    } catch (error) {
      throw new AppError("internal", `the journal of operations can't be written: ${messageOf(error)}`, { cause: error });
    }
  };
  return {
    begin: (record, note) =>
      write(() => {
        statements.insert.run(record.id, record.cluster, record.startedAt, record.phase, JSON.stringify(record));
        add(record.id, { at: record.startedAt, phase: record.phase, note });
      }),
    write: (record, entry) =>
      write(() => {
        statements.update.run(record.phase, JSON.stringify(record), record.id);
        add(record.id, entry);
      }),
    get: (id) => recordOf(statements.get.get(id)),
    entries: (id) => statements.entries.all(id).map(entryOf),
    list: (cluster) => statements.list.all(cluster).flatMap((row) => recordOf(row) ?? []),
    open: () => statements.open.all().flatMap((row) => recordOf(row) ?? []),
    close: () => database.close(),
  };
}

/** The first step makes the first version, and so on; steps are only ever added. */
const migrations: readonly string[] = [
  `CREATE TABLE operation (
     id TEXT PRIMARY KEY, cluster TEXT NOT NULL, started_at TEXT NOT NULL, phase TEXT NOT NULL, record TEXT NOT NULL
   ) STRICT;
   CREATE INDEX operation_by_start ON operation (cluster, started_at DESC);
   CREATE INDEX operation_open ON operation (phase) WHERE phase <> 'ended';
   CREATE TABLE entry (
     seq INTEGER PRIMARY KEY, operation TEXT NOT NULL REFERENCES operation (id), at TEXT NOT NULL, phase TEXT NOT NULL, note TEXT NOT NULL
   ) STRICT;
   CREATE INDEX entry_by_operation ON entry (operation, seq)`,
  // The order of beginning is the rowid's: a clock can be set back.
  `DROP INDEX operation_by_start;
   CREATE INDEX operation_by_cluster ON operation (cluster)`,
];

function migrate(database: DatabaseSync): void {
  const version = versionOf(database);
  if (version === migrations.length) return;
  inTransaction(database, () => {
    for (const step of migrations.slice(version)) database.exec(step);
    database.exec(`PRAGMA user_version = ${migrations.length}`);
  });
}

function requireKnownVersion(database: DatabaseSync, what: string): void {
  const version = versionOf(database);
  if (version <= migrations.length) return;
  const known = `this Voldeck knows versions up to ${migrations.length}`;
  throw new AppError("precondition", `${what} is of version ${version}, ${known}; it was written by a newer one`);
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);
}

function prepare(database: DatabaseSync) {
  return {
    insert: database.prepare("INSERT INTO operation (id, cluster, started_at, phase, record) VALUES (?, ?, ?, ?, ?)"),
    update: database.prepare("UPDATE operation SET phase = ?, record = ? WHERE id = ?"),
    addEntry: database.prepare("INSERT INTO entry (operation, at, phase, note) VALUES (?, ?, ?, ?)"),
    get: database.prepare("SELECT record FROM operation WHERE id = ?"),
    entries: database.prepare("SELECT at, phase, note FROM entry WHERE operation = ? ORDER BY seq"),
    list: database.prepare("SELECT record FROM operation WHERE cluster = ? ORDER BY rowid DESC LIMIT 1000"),
    open: database.prepare("SELECT record FROM operation WHERE phase <> 'ended' ORDER BY rowid"),
  };
}

function recordOf(row: unknown): OperationRecord | undefined {
  if (typeof row !== "object" || row === null || !("record" in row)) return undefined;
  return JSON.parse(String(row.record)) as OperationRecord;
}

function entryOf(row: Record<string, unknown>): JournalEntry {
  return { at: String(row["at"]), phase: String(row["phase"]) as OperationPhase, note: String(row["note"]) };
}
