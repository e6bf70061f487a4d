/** The end of a namespace: marked first, then emptied, then gone. Nobody else does it here: there is no namespace controller. */
import { deepCopy, type JsonObject } from "@/lib/kube/json";
import { ensureObject, metadataOf, textAt } from "./access";
import { nowText, type ServerContext } from "./context";
import { removeStored } from "./delete";
import type { Kind } from "./kinds";
import { forbiddenError } from "./status";
import type { Stored } from "./store";

const everywhere = ["default", "kube-system", "kube-public"];
const namespaces = { group: "", resource: "namespaces" };

/** Throws ApiError 403 for the namespaces that every cluster has. */
export function checkMayEnd(kind: Kind, name: string): void {
  if (isNamespace(kind) && everywhere.includes(name)) throw forbiddenError(kind, name, "this namespace may not be deleted");
}

export function isNamespace({ group, resource }: Pick<Kind, "group" | "resource">): boolean {
  return group === "" && resource === "namespaces";
}

/** The namespace as it stands once it is being deleted. */
export function markEnding(context: ServerContext, stored: Stored, dryRun: boolean): JsonObject {
  if (isEnding(stored)) return stored.object;
  const marked = deepCopy(stored.object);
  metadataOf(marked)["deletionTimestamp"] = nowText(context);
  ensureObject(marked, "status")["phase"] = "Terminating";
  return dryRun ? marked : context.store.put(stored.key, marked).object;
}

function isEnding({ object }: Stored): boolean {
  return textAt(metadataOf(object), "deletionTimestamp") !== "";
}

/** Empties namespaces that end, and removes those that are empty. */
export function sweepNamespaces(context: ServerContext): void {
  for (const stored of context.store.list(namespaces).filter(isEnding)) {
    if (contentOf(context, stored.key.name).every(({ kind, content }) => isGone(context, kind, content))) context.store.remove(stored.key);
  }
}

function contentOf({ kinds, store }: ServerContext, namespace: string): { kind: Kind; content: Stored }[] {
  const inside = kinds.all().filter((kind) => kind.namespaced);
  return inside.flatMap((kind) => store.list(kind, namespace).map((content) => ({ kind, content })));
}

/** Asks an object to go, once; what has a grace period or finalizers stays for now. */
function isGone(context: ServerContext, kind: Kind, content: Stored): boolean {
  if (!isEnding(content)) {
    removeStored(context, kind, content, {
      gracePeriodSeconds: undefined,
      preconditions: undefined,
      orphanDependents: undefined,
      propagationPolicy: undefined,
      dryRun: [],
    });
  }
  return context.store.get(content.key) === undefined;
}

/** Sweeps after every change that can let a namespace end; the returned function stops it. */
export function keepSweeping(context: ServerContext): () => void {
  let isPlanned = false;
  let isStopped = false;
  const sweep = (): void => {
    isPlanned = false;
    if (!isStopped) sweepNamespaces(context);
  };
  const plan = (): void => {
    if (isPlanned || isStopped) return;
    isPlanned = true;
    setImmediate(sweep);
  };
  const stop = context.store.subscribe(({ type, key }) => {
    if (isNamespace(key) || type === "DELETED") plan();
  });
  plan();
  return () => {
    isStopped = true;
    stop();
  };
}
