/** Namespaces: those that every cluster has, and the plugin NamespaceLifecycle (nothing is created where no namespace is). */
import { newObject } from "@/lib/kube/json";
import { objectAt, textAt } from "./access";
import type { ServerContext } from "./context";
import { createObject } from "./create";
import { complete } from "./codec";
import type { Target } from "./request";
import { Warnings } from "./warnings";
import { forbiddenError, notFoundError } from "./status";

/** Throws ApiError 404 or 403. */
export function checkNamespaceFor(context: ServerContext, { kind, namespace }: Target, name: string): void {
  if (!context.checkNamespaces || !kind.namespaced) return;
  const found = context.store.get({ group: "", resource: "namespaces", namespace: "", name: namespace });
  if (found === undefined) throw notFoundError({ group: "", resource: "namespaces" }, namespace);
  if (textAt(objectAt(found.object, "metadata"), "deletionTimestamp") === "") return;
  throw forbiddenError(kind, name, `unable to create new content in namespace ${namespace} because it is being terminated`);
}

const always = ["default", "kube-node-lease", "kube-public", "kube-system"];

/** Makes the namespaces that are there in every cluster. */
export function ensureNamespaces(context: ServerContext): void {
  for (const name of always) ensureNamespace(context, name);
}

/** Makes a namespace where it is missing. */
export function ensureNamespace(context: ServerContext, name: string): void {
  if (context.store.get({ group: "", resource: "namespaces", namespace: "", name }) !== undefined) return;
  const kind = context.kinds.byKind("v1", "Namespace");
  if (kind === undefined) return;
  const write = {
    context,
    target: { kind, namespace: "", name: "", subresource: "" },
    options: { dryRun: [], fieldManager: "", fieldValidation: "", force: undefined },
    warnings: new Warnings(),
  };
  createObject(write, complete(kind, newObject([["metadata", newObject([["name", name]])]])));
}
