/**
 * The journal of operations, in SQLite. Every line is written, synchronously and whole, before what it announces is done:
 * intent, object read, sending, answer, follow, end. What survives a kill is what was true.
 */
import { DatabaseSync } from "node:sqlite";
import { AppError } from "@/lib/errors";
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

const schemaVersion = 1;

/** Throws AppError `internal` for a file of another version. */
export function openJournal(path: string): Journal {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
  migrate(database, path);
  const statements = prepare(database);
  const add = (id: string, entry: JournalEntry) => statements.addEntry.run(id, entry.at, entry.phase, entry.note);
  const inTransaction = (act: () => void) => {
    database.exec("BEGIN IMMEDIATE");
    try {
      act();
      database.exec("COMMIT");
    } catch (error) {
      database.exec("ROLLBACK");
      throw error;
    }
  };
  return {
    begin: (record, note) =>
      inTransaction(() => {
        statements.insert.run(record.id, record.cluster, record.startedAt, record.phase, JSON.stringify(record));
        add(record.id, { at: record.startedAt, phase: record.phase, note });
      }),
    write: (record, entry) =>
      inTransaction(() => {
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

function migrate(database: DatabaseSync, path: string): void {
  const row = database.prepare("PRAGMA user_version").get();
  const version = Number(row?.["user_version"] ?? 0);
  if (version === schemaVersion) return;
  if (version !== 0) {
    throw new AppError("internal", `${path} is a journal of version ${version}, this Voldeck knows version ${schemaVersion}`);
  }
  database.exec(`
    BEGIN IMMEDIATE;
    CREATE TABLE operation (
      id TEXT PRIMARY KEY, cluster TEXT NOT NULL, started_at TEXT NOT NULL, phase TEXT NOT NULL, record TEXT NOT NULL
    ) STRICT;
    CREATE INDEX operation_by_start ON operation (cluster, started_at DESC);
    CREATE INDEX operation_open ON operation (phase) WHERE phase <> 'ended';
    CREATE TABLE entry (
      seq INTEGER PRIMARY KEY, operation TEXT NOT NULL REFERENCES operation (id), at TEXT NOT NULL, phase TEXT NOT NULL, note TEXT NOT NULL
    ) STRICT;
    CREATE INDEX entry_by_operation ON entry (operation, seq);
    PRAGMA user_version = ${schemaVersion};
    COMMIT;`);
}

function prepare(database: DatabaseSync) {
  return {
    insert: database.prepare("INSERT INTO operation (id, cluster, started_at, phase, record) VALUES (?, ?, ?, ?, ?)"),
    update: database.prepare("UPDATE operation SET phase = ?, record = ? WHERE id = ?"),
    addEntry: database.prepare("INSERT INTO entry (operation, at, phase, note) VALUES (?, ?, ?, ?)"),
    get: database.prepare("SELECT record FROM operation WHERE id = ?"),
    entries: database.prepare("SELECT at, phase, note FROM entry WHERE operation = ? ORDER BY seq"),
    list: database.prepare("SELECT record FROM operation WHERE cluster = ? ORDER BY started_at DESC, id LIMIT 1000"),
    open: database.prepare("SELECT record FROM operation WHERE phase <> 'ended' ORDER BY started_at, id"),
  };
}

function recordOf(row: unknown): OperationRecord | undefined {
  if (typeof row !== "object" || row === null || !("record" in row)) return undefined;
  return JSON.parse(String(row.record)) as OperationRecord;
}

function entryOf(row: Record<string, unknown>): JournalEntry {
  return { at: String(row["at"]), phase: String(row["phase"]) as OperationPhase, note: String(row["note"]) };
}
