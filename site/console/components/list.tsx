import type { ComponentChildren } from "preact";
import type { Pages } from "../api/use-pages.ts";
import { Button } from "./button.tsx";
import { Empty, Failure, Loading, Missing } from "./states.tsx";
import { type Column, Table } from "./table.tsx";
import { Moment } from "./time.tsx";

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
  const { items, away, error, hasMore, searchedUntil, more, reload } = pages;
  const isOpen = items?.length === 0 && hasMore;
  return (
    <>
      {error && <Failure error={error} retry={reload} />}
      {items === null && !error && <Loading />}
      {away.length > 0 && <Missing cells={away} retry={reload} />}
      {items?.length === 0 && away.length === 0 && !isOpen && empty}
      {isOpen && (
        <Empty icon="search" title="None found so far">
          <p>
            {searchedUntil === null ? (
              "The search has stopped before the end."
            ) : (
              <>
                Only what was created since <Moment at={searchedUntil} /> has been searched.
              </>
            )}
          </p>
        </Empty>
      )}
      {items && items.length > 0 && (
        <Table name={name} columns={columns} items={items} keyOf={keyOf} />
      )}
      {hasMore && (
        <div class="list-foot">
          <Button act={more}>{isOpen ? "Search on" : "More"}</Button>
        </div>
      )}
    </>
  );
}
