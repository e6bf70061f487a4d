/** DELETE of a collection. Source: k8s.io/apiserver/pkg/registry/generic/registry/store.go, DeleteCollection. */
import type { JsonObject } from "@/lib/kube/json";
import { objectsAt, metadataOf } from "./access";
import type { ServerContext } from "./context";
import { keyOf } from "./create";
import { removeStored } from "./delete";
import { listObjects } from "./list";
import type { DeleteOptions, ListOptions } from "./options";
import type { Target } from "./request";
import type { Selectors } from "./selection";

export interface Chosen {
  readonly options: ListOptions;
  readonly selectors: Selectors;
  readonly deletion: DeleteOptions;
}

/** Deletes what a list would show; the answer is that list, as it was. */
export function deleteCollection(context: ServerContext, target: Target, { options, selectors, deletion }: Chosen): JsonObject {
  const list = listObjects(context, target, { options, selectors });
  for (const item of objectsAt(list, "items")) {
    const stored = context.store.get(keyOf(target.kind, metadataOf(item)));
    if (stored !== undefined) removeStored(context, target.kind, stored, deletion);
  }
  return list;
}
