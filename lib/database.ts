/** What the SQLite files of the data folder have in common. The shapes are `node:sqlite`'s: this folder knows no Node. */
import { withoutControls } from "./controls";
import { AppError, codeOf, isAppError, messageOf } from "./errors";

export interface Database {
  exec(sql: string): void;
  prepare(sql: string): { get(): Readonly<Record<string, unknown>> | undefined };
  readonly isTransaction: boolean;
}

/** How long another program's lock is waited for: a backup, or a look into the file, holds it for less. */
export const lockWaitMs = 1_000;

/** All of `act`, on disk, or nothing. */
export function inTransaction(database: Database, act: () => void): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    act();
    database.exec("COMMIT");
  } catch (error) {
    // A full disk has rolled it back already: a second time would fail and hide the reason.
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/** Finds what would show only when a damaged page is read. Throws AppError `precondition`, or SQLite's error. */
export function requireWhole(database: Database, what: string): void {
  const said = String(database.prepare("PRAGMA quick_check(1)").get()?.["quick_check"]);
  if (said !== "ok") throw new AppError("precondition", `${what} ${damaged(withoutControls(said))}`);
}

/** `what` names the file for the person: `the journal of operations /…/journal.sqlite`. An AppError is passed on. */
export function openingError(what: string, error: unknown): AppError {
  if (isAppError(error)) return error;
  return new AppError("precondition", `${what} ${openingTrouble(error)}`, { cause: error });
}

// Result codes of SQLite (sqlite3.h); the low byte is the primary one.
const busy = 5;
const locked = 6;
const corrupt = 11;
const notADatabase = 26;

function openingTrouble(error: unknown): string {
  switch (resultCodeOf(error)) {
    case busy:
    case locked:
      return "is in use by another program; end that one and start again";
    case corrupt:
    case notADatabase:
      return damaged(messageOf(error));
    default:
      return `can't be opened: ${messageOf(error)}`;
  }
}

function damaged(why: string): string {
  return `is damaged (${why}). It is left as it is; move it away to begin with an empty one`;
}

function resultCodeOf(error: unknown): number | undefined {
  if (codeOf(error) !== "ERR_SQLITE_ERROR" || typeof error !== "object" || error === null || !("errcode" in error)) return undefined;
  return typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
}
