import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type CellPage, mergePages } from "../../src/gateway/merge.ts";
import { encodeCursor, positionIn } from "../../src/lib/page.ts";

interface Item {
  at: string;
  cell: number;
}

const cursorOf = ({ at }: Item) => encodeCursor("things", at);

/** One page of a cell's list, as the cell would answer it. */
function pageOf(list: Item[], after: string | null, limit: number, isAscending: boolean): CellPage {
  const sorted = list.toSorted((a, b) => (a.at < b.at === isAscending ? -1 : 1));
  const position = after === null ? null : positionIn(after);
  const rest = sorted.filter(
    ({ at }) => position === null || (isAscending ? at > position : at < position),
  );
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  return {
    items,
    cursors: items.map(cursorOf),
    next_cursor: last && rest.length > limit ? cursorOf(last) : null,
  };
}

const position = fc.integer({ min: 0, max: 40 }).map((n) => String(n).padStart(2, "0"));
const cells = fc.array(fc.uniqueArray(position, { maxLength: 12 }), { minLength: 1, maxLength: 4 });

test("merged pages hold each item once, in order, also items of several cells at one position", () => {
  fc.assert(
    fc.property(
      cells,
      fc.integer({ min: 1, max: 7 }),
      fc.boolean(),
      (lists, limit, isAscending) => {
        const items = lists.map((list, cell) => list.map((at) => ({ at, cell })));
        const shown: Item[] = [];
        let cursor: string | null = null;
        do {
          const pages = items.map((list) => pageOf(list, cursor, limit, isAscending));
          const page = mergePages(pages, { limit, isAscending });
          assert.ok(new Set((page.items as Item[]).map(({ at }) => at)).size <= limit);
          shown.push(...(page.items as Item[]));
          cursor = page.next_cursor;
        } while (cursor !== null);
        const order = shown.map(({ at }) => at);
        assert.deepEqual(order, isAscending ? order.toSorted() : order.toSorted().reverse());
        const names = (all: Item[]) => all.map(({ at, cell }) => `${at} ${cell}`).sort();
        assert.deepEqual(names(shown), names(items.flat()));
      },
    ),
  );
});

test("rows that are added behind the position appear once, and the others stay", () => {
  fc.assert(
    fc.property(cells, cells, fc.integer({ min: 1, max: 5 }), (lists, added, limit) => {
      const items = lists.map((list, cell) => list.map((at) => ({ at: `${at}b`, cell })));
      const shown: Item[] = [];
      let cursor: string | null = null;
      for (let turn = 0; turn === 0 || cursor !== null; turn++) {
        const pages = items.map((list) => pageOf(list, cursor, limit, false));
        const page = mergePages(pages, { limit, isAscending: false });
        shown.push(...(page.items as Item[]));
        cursor = page.next_cursor;
        const fresh = added[turn] ?? [];
        items[turn % items.length]?.push(...fresh.map((at) => ({ at: `${at}${turn}`, cell: -1 })));
      }
      const old = shown.filter(({ cell }) => cell >= 0);
      assert.equal(old.length, lists.flat().length);
      assert.equal(new Set(shown).size, shown.length);
    }),
  );
});

test("a page of which a cell has searched a part only ends where that search ended", () => {
  const at = (position: string) => encodeCursor("things", position);
  const whole = { items: [{ id: 3 }, { id: 1 }], cursors: [at("3"), at("1")], next_cursor: null };
  const searched = { items: [], cursors: [], next_cursor: at("2") };
  const page = mergePages([whole, searched], { limit: 5, isAscending: false });
  assert.deepEqual(page, { items: [{ id: 3 }], next_cursor: at("2") });
});
