/** An item's place in a list. */
export interface Link<Item> {
  readonly item: Item;
  before: Link<Item> | null;
  after: Link<Item> | null;
}

/**
 * Items in insertion order, with removal in constant time.
 *
 * A `Set` would leak for a while at thousands of changes a second. It moves to a new table after
 * some changes, and the old table points to the new one. Once an old table reaches V8's old
 * generation, minor collections keep all later tables alive, with the requests and attempts in
 * them, until the next major collection.
 */
export class LinkedList<Item> implements Iterable<Item> {
  #first: Link<Item> | null = null;
  #last: Link<Item> | null = null;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  append(item: Item): Link<Item> {
    const link = { item, before: this.#last, after: null };
    if (this.#last === null) this.#first = link;
    else this.#last.after = link;
    this.#last = link;
    this.#size++;
    return link;
  }

  /** Does nothing if the link was removed before. */
  remove(link: Link<Item>): void {
    const { before, after } = link;
    if (before === null && this.#first !== link) return;

    if (before === null) this.#first = after;
    else before.after = after;
    if (after === null) this.#last = before;
    else after.before = before;
    link.before = link.after = null;
    this.#size--;
  }

  /** The current item may be removed during the iteration. */
  *[Symbol.iterator](): Iterator<Item> {
    for (let link = this.#first; link !== null;) {
      const { item, after } = link;
      yield item;
      link = after;
    }
  }
}
