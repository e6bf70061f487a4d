/** Tables for `kubectl get`: the columns of a kind and one row per object. */
import { newObject, type Json, type JsonObject } from "@/lib/kube/json";
import { objectsAt } from "./access";
import type { ServerContext } from "./context";
import { invalid } from "./field";
import type { Kind } from "./kinds";
import { partial } from "./respond";
import { badRequest } from "./status";
import { printerOf } from "./printers";

export interface TableRequest {
  readonly context: ServerContext;
  readonly kind: Kind;
  readonly query: URLSearchParams;
  readonly apiVersion: string;
  readonly noHeaders: boolean;
}

/** The table of an object or a list. Throws ApiError 400 for an unknown includeObject. */
export function tableOf(object: JsonObject, { context, kind, query, apiVersion, noHeaders }: TableRequest): JsonObject {
  const include = query.get("includeObject") ?? "";
  if (!["", "Metadata", "Object", "None"].includes(include)) {
    const error = invalid("includeObject", include, "must be 'Metadata', 'Object', 'None', or empty");
    throw badRequest(`Unable to convert to Table as requested: ${error.field}: ${error.body}`);
  }
  const isList = Array.isArray(object["items"]);
  const items = isList ? objectsAt(object, "items") : [object];
  const { columns, printer } = printerOf(kind);
  const around = { nowMs: context.clock.nowMs(), ...(isList ? { items } : {}) };
  const rows = items.map((item): Json => {
    const row = newObject([["cells", printer.cells(item, around)]]);
    const met = printer.conditions?.(item);
    if (met !== undefined) row["conditions"] = met;
    const shown = shownObject(item, { include, kind, apiVersion });
    row["object"] = shown;
    return row;
  });
  const definitions: Json = noHeaders
    ? null
    : columns.map(({ name, type, format, description, priority }) =>
        newObject([["name", name], ["type", type], ["format", format], ["description", description], ["priority", priority]]),
      );
  return newObject([["kind", "Table"], ["apiVersion", apiVersion], ["metadata", tableMetadata(object, isList)], ["columnDefinitions", definitions], ["rows", rows]]);
}

/** Of a list its list metadata, of an object its version alone. */
function tableMetadata(object: JsonObject, isList: boolean): Json {
  const metadata = object["metadata"];
  if (isList || typeof metadata !== "object" || metadata === null || Array.isArray(metadata)) return metadata ?? newObject();
  return newObject([["resourceVersion", metadata["resourceVersion"]]]);
}

function shownObject(item: JsonObject, how: { include: string; kind: Kind; apiVersion: string }): Json {
  if (how.include === "None") return null;
  if (how.include === "Object") {
    const version = how.kind.group === "" ? how.kind.version : `${how.kind.group}/${how.kind.version}`;
    return newObject([["kind", how.kind.kind], ["apiVersion", version], ...Object.entries(item).filter(([key]) => key !== "kind" && key !== "apiVersion")]);
  }
  return partial(item, how.apiVersion);
}
