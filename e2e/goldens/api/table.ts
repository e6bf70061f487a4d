/** Goldens `table`: columns and rows of every kind, and ages. */
import type { Adapter, Answer, GoldenLine } from "@/e2e/goldens/adapter";
import { kindOf, toObject } from "@/e2e/goldens/api-context";
import { reasons } from "@/e2e/goldens/unsupported";
import { stringifyJson, type JsonObject } from "@/lib/kube/json";
import { objectAt, objectsAt, textAt } from "@/server/apiserver/access";
import { complete } from "@/server/apiserver/codec";
import { KindTable } from "@/server/apiserver/kinds";
import { humanDuration } from "@/server/apiserver/printers/human-duration";
import { printerOf } from "@/server/apiserver/printers";

function tableAnswer({ in: input }: GoldenLine): Answer {
  const object = toObject(input["object"]);
  const version = textAt(object, "apiVersion");
  const name = textAt(object, "kind");
  const isList = Array.isArray(object["items"]);
  const group = version.includes("/") ? version.slice(0, version.indexOf("/")) : "";
  // A kind nobody knows has the columns of a kind without a printer.
  const { columns, printer } = printerOf({ group, kind: input["default"] === undefined ? name.replace(/List$/u, "") : "" });
  const kinds = new KindTable();
  const items = (isList ? objectsAt(object, "items") : [object]).map((item) => complete(kindOf(kinds, item), item));
  const around = { nowMs: Date.parse(String(input["now"])), ...(isList ? { items } : {}) };
  const rows = items.map((item) => {
    const met = printer.conditions?.(item);
    return { cells: printer.cells(item, around), ...(met === undefined ? {} : { conditions: met }) };
  });
  // The recorder writes an empty list as null.
  const shown = columns.map(({ name: column, type, format, priority }) => ({ name: column, type, format, priority }));
  return { out: { columns: toObject(input["options"])["noHeaders"] === true ? null : shown, rows: rows.length === 0 ? null : rows, ...listMetadata(object, isList) } };
}

function listMetadata(object: JsonObject, isList: boolean): { metadata?: unknown } {
  const metadata = objectAt(object, "metadata");
  return isList && metadata !== undefined ? { metadata: JSON.parse(stringifyJson(metadata)) } : {};
}

export const adapter: Adapter = {
  unsupported: (line) => (line.fn === "print" ? reasons.printedTables : undefined),
  answer(line): Promise<Answer> {
    return Promise.resolve(line.fn === "humanDuration" ? { out: humanDuration(Number(line.in["ms"])) } : tableAnswer(line));
  },
};
