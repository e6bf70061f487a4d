/** The printer of each kind. */
import type { Kind } from "@/server/apiserver/kinds";
import { ageOf, nameColumn, nameOf, type Printer } from "./printer";

/** Kinds without a printer: the name and when it was made. */
const plain: Printer = {
  columns: [
    nameColumn,
    {
      name: "Age",
      type: "string",
      description: "",
    },
  ],
  cells: (object, nowMs) => [nameOf(object), ageOf(object, nowMs)],
};

const byKind = new Map<string, Printer>();

export function printerOf(kind: Kind): Printer {
  return byKind.get(kind.group === "" ? kind.kind : `${kind.group}/${kind.kind}`) ?? plain;
}
