/** Kinds without behaviour here: kept as they came; only what is stored by name, namespace and version is checked. */
import { assign, objectAt } from "@/server/apiserver/access";
import type { Kind } from "@/server/apiserver/kinds";
import { metadataErrors, pathSegmentName } from "./metadata";
import type { Rules, UpdateRules } from "./rules";

export function opaqueRules(kind: Kind): Rules {
  const metadata = { namespaced: kind.namespaced, name: pathSegmentName, anyFinalizer: true };
  const update: UpdateRules = {
    prepare: () => undefined,
    validate: () => [],
  };
  const status: UpdateRules = {
    ...update,
    prepare(next, old) {
      for (const key of Object.keys(old)) if (key !== "status" && key !== "metadata") assign(next, key, old[key]);
    },
  };
  return {
    prepareForCreate: () => undefined,
    validateCreate: (object) => metadataErrors(objectAt(object, "metadata"), metadata),
    update,
    subresources: { status },
  };
}
