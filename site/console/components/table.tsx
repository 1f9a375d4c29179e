import type { ComponentChildren } from "preact";

export interface Column<T> {
  title: string;
  show: (item: T) => ComponentChildren;
  /** Numbers are aligned at their end. */
  number?: boolean;
  /** Long texts get more room. */
  wide?: boolean;
  /** The line of the card that a phone shows, and whether it stands at the line's end. */
  line?: 1 | 2 | 3;
  end?: boolean;
}

/** Records as a table, and on a phone as cards. Roles are explicit, since cards are no table to a browser. */
export function Table<T>({
  name,
  columns,
  items,
  keyOf,
}: {
  name: string;
  columns: Column<T>[];
  items: readonly T[];
  keyOf: (item: T) => string;
}) {
  return (
    <div class="scroll" tabIndex={-1}>
      <table class="records" role="table" aria-label={name}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ title, number }) => (
              <th key={title} scope="col" role="columnheader" class={number ? "number" : ""}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {items.map((item) => (
            <tr key={keyOf(item)} role="row">
              {columns.map((column) => (
                <td
                  key={column.title}
                  role="cell"
                  class={column.number ? "number" : column.wide ? "wide" : ""}
                  data-line={column.line}
                  data-title={column.title}
                  data-end={column.end ? "" : undefined}
                >
                  {column.show(item)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
