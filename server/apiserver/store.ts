/**
 * Objects, the revision counter and the log of changes, in SQLite (WAL). Everything is also held in memory: reads never touch the
 * disk, a write is on disk before it is seen. Watches are served from the log; what lies before its window is gone (410).
 */
import { chmodSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { inTransaction, lockWaitMs, openingError, requireWhole } from "@/lib/database";
import { compareText } from "@/lib/names";
import { isObject, newObject, parseJson, stringifyJson, type JsonObject } from "@/lib/kube/json";

/** Which objects: a resource and its group. The version is not part of an object's identity. */
export interface Collection {
  readonly group: string;
  readonly resource: string;
}

export interface ObjectKey extends Collection {
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
}

export interface Stored {
  readonly key: ObjectKey;
  readonly revision: number;
  /** Never changed in place. */
  readonly object: JsonObject;
}

export type ChangeType = "ADDED" | "MODIFIED" | "DELETED";

export interface Change {
  readonly type: ChangeType;
  readonly revision: number;
  readonly key: ObjectKey;
  /** The object after the change; of a deletion its last state with the revision of the deletion. */
  readonly object: JsonObject;
  readonly previous: JsonObject | undefined;
}

export interface StoreOptions {
  /** A file, or ":memory:". */
  readonly file: string;
  /** How many changes a watch may lag behind; 10,000 by default. */
  readonly windowSize?: number;
}

const schema = `
  CREATE TABLE IF NOT EXISTS objects (
    grp TEXT NOT NULL, resource TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
    revision INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (grp, resource, namespace, name)) STRICT;
  CREATE TABLE IF NOT EXISTS changes (
    revision INTEGER PRIMARY KEY, type TEXT NOT NULL, grp TEXT NOT NULL, resource TEXT NOT NULL, namespace TEXT NOT NULL,
    name TEXT NOT NULL, body TEXT NOT NULL, previous TEXT) STRICT;
  CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
`;

export class Store {
  private readonly database: DatabaseSync;
  private readonly statements: Statements;
  private readonly windowSize: number;
  private readonly collections = new Map<string, Map<string, Stored>>();
  private readonly log: Change[] = [];
  private readonly listeners = new Set<(change: Change) => void>();
  private current = 0;

  /** Throws AppError `precondition`, the file left as it is: damaged, in use, or whatever SQLite says. */
  constructor(options: StoreOptions) {
    this.windowSize = options.windowSize ?? 10_000;
    const what = `the object store ${options.file}`;
    let database: DatabaseSync | undefined;
    try {
      database = new DatabaseSync(options.file, { timeout: lockWaitMs });
      requireWhole(database, what);
      // It holds secrets; SQLite gives the files beside it the same mode.
      if (options.file !== ":memory:") chmodSync(options.file, 0o600);
      database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
      database.exec(schema);
      this.statements = prepare(database);
      this.database = database;
      this.load();
    } catch (error) {
      database?.close();
      throw openingError(what, error);
    }
  }

  /** The revision of the newest write. */
  get revision(): number {
    return this.current;
  }

  /** The oldest revision that a watch can start from. */
  get oldestRevision(): number {
    return this.log[0] === undefined ? this.current : this.log[0].revision - 1;
  }

  get(key: ObjectKey): Stored | undefined {
    return this.collections.get(collectionId(key))?.get(objectId(key));
  }

  /** In the order of `namespace/name`. An empty namespace means all. */
  list(of: Collection, namespace = ""): Stored[] {
    const all = [...(this.collections.get(collectionId(of))?.values() ?? [])];
    return all.filter(({ key }) => namespace === "" || key.namespace === namespace).sort((a, b) => compareText(objectId(a.key), objectId(b.key)));
  }

  /** The collection as it was at an older revision, or undefined when the log does not reach back that far. */
  listAt(of: Collection, namespace: string, revision: number): Stored[] | undefined {
    if (revision < this.oldestRevision) return undefined;
    const objects = new Map(this.list(of, namespace).map((stored) => [objectId(stored.key), stored]));
    for (const change of this.changesSince(revision, of).reverse()) {
      if (namespace !== "" && change.key.namespace !== namespace) continue;
      const id = objectId(change.key);
      if (change.previous === undefined) objects.delete(id);
      else objects.set(id, { key: change.key, revision: revisionOf(change.previous), object: change.previous });
    }
    return [...objects.values()].sort((a, b) => compareText(objectId(a.key), objectId(b.key)));
  }

  /** Writes an object (new or changed) under the next revision and returns it as stored. */
  put(key: ObjectKey, object: JsonObject): Stored {
    const previous = this.get(key)?.object;
    const revision = this.current + 1;
    const change: Change = { type: previous === undefined ? "ADDED" : "MODIFIED", revision, key, object: withRevision(object, revision), previous };
    this.commit(change);
    return { key, revision, object: change.object };
  }

  /** Removes an object; the answer carries the revision of its deletion. */
  remove(key: ObjectKey): Stored | undefined {
    const previous = this.get(key)?.object;
    if (previous === undefined) return undefined;
    const revision = this.current + 1;
    const change: Change = { type: "DELETED", revision, key, object: withRevision(previous, revision), previous };
    this.commit(change);
    return { key, revision, object: change.object };
  }

  /** Changes after a revision, oldest first. */
  changesSince(revision: number, of: Collection): Change[] {
    const id = collectionId(of);
    return this.log.slice(firstAfter(this.log, revision)).filter((change) => collectionId(change.key) === id);
  }

  /** Every later change is told, after it is on disk. Returns how to stop. */
  subscribe(listener: (change: Change) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Skips revisions: the next write gets a later one. */
  advanceTo(revision: number): void {
    this.current = Math.max(this.current, revision);
  }

  /** A named fact beside the objects (what a manifest file last said). */
  readFact(name: string): string | undefined {
    const row = this.statements.readFact.get(name);
    return typeof row?.["value"] === "string" ? row["value"] : undefined;
  }

  /** The values of all facts whose name starts so, by name. */
  listFacts(prefix: string): string[] {
    const rows = this.statements.listFacts.all(prefix, `${prefix}\u{10ffff}`);
    return rows.map((row) => String(row["value"]));
  }

  writeFact(name: string, value: string | undefined): void {
    if (value === undefined) this.statements.deleteFact.run(name);
    else this.statements.writeFact.run(name, value);
  }

  close(): void {
    this.listeners.clear();
    this.database.close();
  }

  private commit(change: Change): void {
    const { key } = change;
    const place = [key.group, key.resource, key.namespace, key.name] as const;
    const body = stringifyJson(change.object);
    inTransaction(this.database, () => {
      if (change.type === "DELETED") this.statements.deleteObject.run(...place);
      else this.statements.writeObject.run(...place, change.revision, body);
      this.statements.writeChange.run(change.revision, change.type, ...place, body, change.previous === undefined ? null : stringifyJson(change.previous));
      if (this.log.length >= this.windowSize) this.statements.trim.run(change.revision - this.windowSize);
    });
    this.apply(change);
    for (const listener of [...this.listeners]) listener(change);
  }

  private apply(change: Change): void {
    const { key, revision, object } = change;
    this.current = revision;
    this.log.push(change);
    if (this.log.length > this.windowSize) this.log.shift();
    const collection = this.collectionOf(key);
    if (change.type === "DELETED") collection.delete(objectId(key));
    else collection.set(objectId(key), { key, revision, object });
  }

  private load(): void {
    for (const row of this.statements.readObjects.all()) {
      const key = keyOf(row);
      this.collectionOf(key).set(objectId(key), { key, revision: Number(row["revision"]), object: objectOf(row["body"]) });
      this.current = Math.max(this.current, Number(row["revision"]));
    }
    for (const row of this.statements.readChanges.all()) {
      const type = String(row["type"]);
      if (!isChangeType(type)) continue;
      const previous = row["previous"] === null ? undefined : objectOf(row["previous"]);
      this.log.push({ type, revision: Number(row["revision"]), key: keyOf(row), object: objectOf(row["body"]), previous });
      this.current = Math.max(this.current, Number(row["revision"]));
    }
  }

  private collectionOf(key: Collection): Map<string, Stored> {
    const id = collectionId(key);
    const known = this.collections.get(id);
    if (known !== undefined) return known;
    const made = new Map<string, Stored>();
    this.collections.set(id, made);
    return made;
  }
}

type Statements = Readonly<
  Record<
    "readObjects" | "readChanges" | "writeObject" | "deleteObject" | "writeChange" | "trim" | "readFact" | "listFacts" | "writeFact" | "deleteFact",
    StatementSync
  >
>;

function prepare(database: DatabaseSync): Statements {
  return {
    readObjects: database.prepare("SELECT * FROM objects"),
    readChanges: database.prepare("SELECT * FROM changes ORDER BY revision"),
    writeObject: database.prepare("INSERT OR REPLACE INTO objects (grp, resource, namespace, name, revision, body) VALUES (?, ?, ?, ?, ?, ?)"),
    deleteObject: database.prepare("DELETE FROM objects WHERE grp = ? AND resource = ? AND namespace = ? AND name = ?"),
    writeChange: database.prepare(
      "INSERT INTO changes (revision, type, grp, resource, namespace, name, body, previous) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    trim: database.prepare("DELETE FROM changes WHERE revision <= ?"),
    readFact: database.prepare("SELECT value FROM facts WHERE name = ?"),
    listFacts: database.prepare("SELECT value FROM facts WHERE name >= ? AND name < ? ORDER BY name"),
    writeFact: database.prepare("INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)"),
    deleteFact: database.prepare("DELETE FROM facts WHERE name = ?"),
  };
}

function collectionId(of: Collection): string {
  return `${of.group}/${of.resource}`;
}

/** The key within a collection, as etcd's key below the prefix: `namespace/name`, or `name`. */
export function objectId(key: Pick<ObjectKey, "namespace" | "name">): string {
  return key.namespace === "" ? key.name : `${key.namespace}/${key.name}`;
}

function keyOf(row: Readonly<Record<string, unknown>>): ObjectKey {
  return { group: String(row["grp"]), resource: String(row["resource"]), namespace: String(row["namespace"]), name: String(row["name"]) };
}

function objectOf(body: unknown): JsonObject {
  const { value } = parseJson(String(body));
  return isObject(value) ? value : newObject();
}

function isChangeType(text: string): text is ChangeType {
  return text === "ADDED" || text === "MODIFIED" || text === "DELETED";
}

function revisionOf(object: JsonObject): number {
  return isObject(object["metadata"]) ? Number(object["metadata"]["resourceVersion"]) : 0;
}

/** A copy that carries the revision, at the place where Go writes it. */
function withRevision(object: JsonObject, revision: number): JsonObject {
  const metadata = isObject(object["metadata"]) ? object["metadata"] : newObject();
  const before = ["name", "generateName", "namespace", "selfLink", "uid"];
  const entries = Object.entries(metadata).filter(([key]) => key !== "resourceVersion");
  const after = entries.filter(([key]) => !before.includes(key));
  const first = entries.filter(([key]) => before.includes(key));
  const copy = newObject(Object.entries(object));
  copy["metadata"] = newObject([...first, ["resourceVersion", String(revision)], ...after]);
  return copy;
}

/** Index of the first change after a revision (the log is in order). */
function firstAfter(log: readonly Change[], revision: number): number {
  let low = 0;
  let high = log.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((log[middle]?.revision ?? 0) <= revision) low = middle + 1;
    else high = middle;
  }
  return low;
}
