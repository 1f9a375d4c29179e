import { BoundedCache } from "../lib/bounded-cache.ts";
import { Busy, type Fault } from "../lib/errors.ts";
import { parseId } from "../lib/ids.ts";
import { groupBy, inSteps } from "../lib/objects.ts";
import { PAGE_LIMIT } from "../lib/page.ts";
import { requireNone } from "../subjects/events/publish.ts";
import { batchFaults, eventsIn, organizationOf } from "../subjects/events/rules.ts";
import { NAMES_MAX } from "../subjects/listings.ts";
import { SLUG } from "../subjects/organizations/rules.ts";
import type { Cell, CellAnswer, CellRequest } from "./cell.ts";
import { API, type Cells, noAnswer, read, Relayed } from "./cells.ts";

/** The organizations whose cells are remembered. One never leaves its cell, and its slug is never given again. */
const KNOWN_MAX = 100_000;
/** How much is encoded in one step, in characters: about a millisecond. */
const STEP_CHARACTERS = 131_072;

/** The events of a request that belong to one cell. */
interface CellBatch {
  cell: Cell;
  /** The indexes of its events in the request. Null if the request is not a list. */
  indexes: number[] | null;
  body: string;
}

/** Publishes events in the cells of their organizations. */
export class Publisher {
  readonly #cells: Cells;
  readonly #headers: CellRequest["headers"];
  readonly #known = new BoundedCache<string, Cell>(KNOWN_MAX);

  /** `headers`: of the gateway's own requests. */
  constructor(cells: Cells, headers: CellRequest["headers"]) {
    this.#cells = cells;
    this.#headers = headers;
  }

  /**
   * Publishes the events of a body, or only checks them. All cells check theirs before anything is written. Then each writes its
   * own in one transaction. `documentFaults` are the faults of the body as JSON text, which its cells cannot see.
   */
  async answer(
    given: unknown,
    headers: CellRequest["headers"],
    { documentFaults, checksOnly }: { documentFaults: Fault[]; checksOnly: boolean },
  ): Promise<Relayed | { items: object[] }> {
    const batches = await this.#divide(given);
    const check = ({ cell, body }: CellBatch) =>
      cell.read({ method: "POST", path: `${API}/events?check=true`, headers, body });
    const publish = ({ cell, body }: CellBatch) =>
      cell.change({ method: "POST", path: `${API}/events`, headers, body });

    const [only, ...others] = batches;
    if (only && others.length === 0 && documentFaults.length === 0)
      return new Relayed(only.cell, await (checksOnly ? check(only) : publish(only)));
    const checked = await Promise.all(
      batches.map(async (one) => new Relayed(one.cell, await check(one))),
    );
    const faults = checked.flatMap((one, i) => faultsOf(one, batches[i]?.indexes ?? null));
    requireNone([...documentFaults, ...faults.filter((one) => !isHidden(one, documentFaults))]);
    const [passed] = checked;
    if (checksOnly && passed) return passed;
    return { items: await join(batches, batches.map(publish)) };
  }

  async #divide(given: unknown): Promise<CellBatch[]> {
    const { isBatch, events } = eventsIn(given);
    const isList = isBatch && batchFaults(given).length === 0;
    const all = isList ? [...events.values()] : [given];
    const names = [...new Set(all.map(organizationOf))].filter((name) => name !== null);
    const anyCell = (await this.#find(names)) ?? this.#cells.all[0];
    const cellOf = (event: unknown) => this.#known.get(organizationOf(event) ?? "") ?? anyCell;
    const indexed = all.map((event, index) => ({ event, index }));
    const parts = [...groupBy(indexed, ({ event }) => cellOf(event))];
    return Promise.all(
      parts.map(async ([cell, part]) => {
        const texts = await inSteps(encode(part.map(({ event }) => event)));
        const body = isList ? `{"events":[${texts.join()}]}` : (texts[0] ?? "");
        return { cell, body, indexes: isList ? part.map(({ index }) => index) : null };
      }),
    );
  }

  /** Finds the cells of organizations. Returns the cell that refuses the events of those that do not exist. */
  async #find(names: string[]): Promise<Cell | undefined> {
    const [known] = names.flatMap((name) => this.#known.get(name) ?? []);
    const isSought = (name: string) =>
      !this.#known.get(name) && (SLUG.test(name) || parseId("org", name) !== null);
    const sought = names.filter(isSought);
    if (sought.length === 0 && known) return known;
    const pages = await Promise.all(
      inChunks(sought, NAMES_MAX).map((among) =>
        this.#cells.gather<{ items: { id: string; slug: string }[] }>({
          ...{ method: "GET", headers: this.#headers },
          path: `${API}/organizations?limit=${PAGE_LIMIT.max}&names=${among.join()}`,
        }),
      ),
    );
    for (const { cell, body } of pages.flatMap(({ parts }) => parts))
      for (const { id, slug } of body.items)
        for (const name of [id, slug]) this.#known.set(name, cell);
    const away = new Set(pages.flatMap(({ unreachable }) => unreachable));
    if (away.size > 0 && sought.some(isSought)) throw noAnswer([...away].sort());
    return pages[0]?.parts[0]?.cell;
  }
}

/** Returns at least one chunk. */
function inChunks<Item>(items: Item[], size: number): Item[][] {
  const count = Math.max(1, Math.ceil(items.length / size));
  return Array.from({ length: count }, (_, i) => items.slice(i * size, (i + 1) * size));
}

function* encode(events: unknown[]): Generator<undefined, string[]> {
  const texts: string[] = [];
  let sinceYield = 0;
  for (const event of events) {
    const text = JSON.stringify(event);
    texts.push(text);
    sinceYield += text.length;
    if (sinceYield < STEP_CHARACTERS) continue;
    sinceYield = 0;
    yield;
  }
  return texts;
}

/** Returns what a cell finds wrong with its events, by their indexes in the request. */
function faultsOf(relayed: Relayed, indexes: number[] | null): Fault[] {
  if (relayed.answer.status === 204) return [];
  if (relayed.answer.status !== 422) throw relayed;
  const { errors = [] } = read(relayed.answer) as { errors?: Fault[] };
  return errors.map(({ pointer, detail }) => ({
    pointer: pointer.replace(
      /^\/events\/(\d+)/,
      (_, i: string) => `/events/${indexes?.[Number(i)]}`,
    ),
    detail,
  }));
}

/** Data that the text of the body does not show truly is not checked further. */
function isHidden({ pointer }: Fault, documentFaults: Fault[]): boolean {
  const [data] = /^(?:\/events\/\d+)?\/data(?=\/|$)/.exec(pointer) ?? [];
  return documentFaults.some((one) => one.pointer === data || one.pointer.startsWith(`${data}/`));
}

/** Returns what was published, in the order of the request. */
async function join(batches: CellBatch[], publishing: Promise<CellAnswer>[]): Promise<object[]> {
  const items: object[] = [];
  const failed: string[] = [];
  const results = await Promise.allSettled(publishing);
  batches.forEach(({ cell, indexes }, i) => {
    const result = results[i];
    if (result?.status !== "fulfilled" || result.value.status !== 202) failed.push(cell.name);
    else
      (read(result.value) as { items: object[] }).items.forEach((item, index) => {
        items[indexes?.[index] ?? 0] = item;
      });
  });
  if (failed.length === 0) return items;
  throw new Busy(
    `Cell ${failed.join(", ")} failed, so some events may not be published. Repeat the request with the same dedupe keys.`,
  );
}
