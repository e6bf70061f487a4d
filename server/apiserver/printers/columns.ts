/** The columns of the kinds' tables, as `e2e/tools/gocolumns` printed them from Kubernetes v1.37.2. */
import table from "./columns.json";

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  /** 1: shown by `-o wide` alone. */
  readonly priority: number;
  readonly description: string;
}

const byKind: ReadonlyMap<string, readonly Column[]> = new Map(Object.entries(table).map(([kind, rows]) => [kind, rows.map(columnOf)]));

function columnOf(row: readonly (string | number)[]): Column {
  const [name, type, format, priority, description] = row;
  return { name: String(name), type: String(type), format: String(format), priority: Number(priority), description: String(description) };
}

export function columnsOf(kind: string): readonly Column[] {
  const columns = byKind.get(kind);
  if (columns === undefined) throw new Error(`no columns of ${kind}`);
  return columns;
}

/** Kinds without a printer: the name and when it was made. */
export function plainColumns(): readonly Column[] {
  const known = columnsOf("ServiceAccount");
  return known.map((column) => (column.name === "Age" ? { ...column, name: "Created At", type: "date" } : column));
}
