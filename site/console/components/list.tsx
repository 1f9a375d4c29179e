import type { ComponentChildren } from "preact";
import type { Pages } from "../api/use-pages.ts";
import { Button } from "./button.tsx";
import { Failure, Loading, Missing } from "./states.tsx";
import { type Column, Table } from "./table.tsx";

/** A list of the API with its states: loading, failed, empty, and more to read. */
export function List<T>({
  name,
  pages,
  columns,
  keyOf,
  empty,
}: {
  name: string;
  pages: Pages<T>;
  columns: Column<T>[];
  keyOf: (item: T) => string;
  empty: ComponentChildren;
}) {
  const { items, away, error, hasMore, more, reload } = pages;
  return (
    <>
      {error && <Failure error={error} retry={reload} />}
      {items === null && !error && <Loading />}
      {away.length > 0 && <Missing cells={away} retry={reload} />}
      {items?.length === 0 && away.length === 0 && empty}
      {items && items.length > 0 && (
        <Table name={name} columns={columns} items={items} keyOf={keyOf} />
      )}
      {hasMore && (
        <div class="list-foot">
          <Button act={more}>More</Button>
        </div>
      )}
    </>
  );
}
