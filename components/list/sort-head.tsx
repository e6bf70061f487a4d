import { Icon } from "@/components/ui/icon";

export interface Sorting<Column extends string> {
  readonly column: Column;
  readonly descending: boolean;
}

interface SortHeadProps<Column extends string> {
  column: Column;
  sorting: Sorting<Column>;
  onSort: (sorting: Sorting<Column>) => void;
  className?: string;
  children: string;
}

/** A column head that sorts; pressed again it turns the order round. */
export function SortHead<Column extends string>({ column, sorting, onSort, className, children }: SortHeadProps<Column>) {
  const active = sorting.column === column;
  const direction = sorting.descending ? "descending" : "ascending";
  return (
    <th scope="col" className={className} aria-sort={active ? direction : undefined}>
      <button type="button" onClick={() => onSort({ column, descending: active && !sorting.descending })}>
        {children}
        {active && <Icon name="sort" small className={sorting.descending ? "" : "rotate-180"} />}
      </button>
    </th>
  );
}
