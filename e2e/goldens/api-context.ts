/** An embedded API server without a network, for the adapters that ask its rules and verbs. */
import { isObject, newObject, parseJson, stringifyJson, type JsonObject } from "@/lib/kube/json";
import { textAt } from "@/server/apiserver/access";
import { complete } from "@/server/apiserver/codec";
import type { ServerContext } from "@/server/apiserver/context";
import { keyOf } from "@/server/apiserver/create";
import { KindTable, type Kind } from "@/server/apiserver/kinds";
import { Store } from "@/server/apiserver/store";

/** The instant of every golden request; times at and after it stand for "NOW". */
export const nowMs = Date.parse("2026-06-01T00:00:00Z");

/** A golden's value in the server's form of JSON. */
export function toObject(value: unknown): JsonObject {
  const parsed = parseJson(JSON.stringify(value ?? {})).value;
  return isObject(parsed) ? parsed : newObject();
}

/** An answer as the golden has it: fresh times are "NOW". */
export function plain(value: JsonObject): unknown {
  return JSON.parse(stringifyJson(value).replaceAll(new Date(nowMs).toISOString().replace(".000Z", "Z"), "NOW"));
}

export function toObjects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.map(toObject) : [];
}

export function kindOf(kinds: KindTable, object: JsonObject): Kind {
  const kind = kinds.byKind(textAt(object, "apiVersion"), textAt(object, "kind"));
  if (kind === undefined) throw new Error(`unknown kind ${textAt(object, "kind")}`);
  return kind;
}

export interface World {
  readonly objects?: readonly JsonObject[];
  readonly nodes?: readonly JsonObject[];
  readonly gates?: unknown;
}

/** Objects get the revisions 1, 2, ...; the next write gets 101. */
export function goldenContext({ objects = [], nodes = [], gates }: World): ServerContext {
  const store = new Store({ file: ":memory:" });
  const kinds = new KindTable();
  for (const object of objects) {
    const kind = kindOf(kinds, object);
    const ready = complete(kind, object);
    store.put(keyOf(kind, isObject(ready["metadata"]) ? ready["metadata"] : newObject()), ready);
  }
  store.advanceTo(100);
  const named = new Map(nodes.map((node) => [isObject(node["metadata"]) ? textAt(node["metadata"], "name") : "", node]));
  return {
    store,
    kinds,
    clock: { nowMs: () => nowMs, sleep: () => Promise.resolve() },
    newUid: () => "UID",
    newSuffix: () => "xxxxx",
    findNode: (name) => named.get(name),
    gates: new Map(Object.entries(isGates(gates) ? gates : {})),
    readOnly: false,
    allowPrivileged: false,
    checkNamespaces: false,
    defaultServiceAccount: false,
    retryTooLargeSeconds: 0,
  };
}

function isGates(value: unknown): value is Record<string, boolean> {
  return typeof value === "object" && value !== null;
}
