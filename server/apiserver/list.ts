/** LIST: selection, chunks and revisions. Source: k8s.io/apiserver/pkg/storage and .../cacher. */
import { newObject, type JsonObject } from "@/lib/kube/json";
import { objectId, type Stored } from "./store";
import { planList, prepareContinue, type ListPlan } from "./continue-token";
import type { ServerContext } from "./context";
import { checkReached } from "./get";
import { apiVersionOf } from "./kinds";
import type { ListOptions } from "./options";
import type { Target } from "./request";
import { parseResourceVersion } from "./resource-version";
import { listObject } from "./respond";
import { selects, selectsEverything, type Selectors } from "./selection";
import { badRequest, expired } from "./status";

const continueTooOld =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.";
const versionTooOld = "The resourceVersion for the provided list is too old.";

/** The list object. Throws ApiError 400, 410 or 504. */
export function listObjects(context: ServerContext, target: Target, request: { options: ListOptions; selectors: Selectors }): JsonObject {
  const { options, selectors } = request;
  const prefix = keyPrefix(target);
  const plan = planList(prefix, options);
  if (options.continue === "") checkReached(context, parseResourceVersion(options.resourceVersion, (text) => badRequest(text)));
  const { items, revision } = readAt(context, target, plan, options);
  const rest = plan.continueKey === "" ? items : items.filter(({ key }) => prefix + relativeId(key, target) >= plan.continueKey);
  const limit = Number(options.limit > 0n ? options.limit : 0n);
  const { chunk, more } = cut(rest, selectors, limit);
  const metadata = newObject([["resourceVersion", String(revision)]]);
  const last = chunk.at(-1);
  if (more && last !== undefined) {
    const next = prepareContinue({
      lastKey: prefix + relativeId(last.key, target),
      prefix,
      revision: BigInt(revision),
      count: BigInt(rest.length),
      limit: BigInt(limit),
      more,
      everything: selectsEverything(selectors),
    });
    metadata["continue"] = next.continue;
    if (next.remainingItemCount !== undefined) metadata["remainingItemCount"] = Number(next.remainingItemCount);
  }
  return listObject(target.kind, apiVersionOf(target.kind), metadata, chunk.map(({ object }) => object));
}

/** The objects that match, at most `limit` of them, and whether any object (matching or not) follows. */
function cut(items: readonly Stored[], selectors: Selectors, limit: number): { chunk: Stored[]; more: boolean } {
  const chunk: Stored[] = [];
  for (const [index, item] of items.entries()) {
    if (!selects(selectors, item.object)) continue;
    chunk.push(item);
    if (limit > 0 && chunk.length === limit) return { chunk, more: index < items.length - 1 };
  }
  return { chunk, more: false };
}

function readAt(context: ServerContext, target: Target, plan: ListPlan, options: ListOptions): { items: Stored[]; revision: number } {
  const { store } = context;
  const of = { group: target.kind.group, resource: target.kind.resource };
  if (plan.atRevision === 0n) return { items: store.list(of, target.namespace), revision: store.revision };
  const revision = Number(plan.atRevision);
  const items = revision >= store.revision ? store.list(of, target.namespace) : store.listAt(of, target.namespace, revision);
  if (items === undefined) throw expired(options.continue === "" ? versionTooOld : continueTooOld);
  return { items, revision };
}

/** As in etcd: tokens name keys below the list's own prefix. */
function keyPrefix({ kind, namespace }: Target): string {
  return `/registry/${kind.resource}/${namespace === "" ? "" : `${namespace}/`}`;
}

function relativeId(key: Stored["key"], target: Target): string {
  return target.namespace === "" ? objectId(key) : key.name;
}
