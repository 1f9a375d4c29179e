/** An item's place in a list. */
export interface Link<Item> {
  readonly item: Item;
  before: Link<Item> | null;
  after: Link<Item> | null;
}

/**
 * Items in the order in which they came, any of which may leave: for what comes and goes thousands of times a second.
 *
 * A `Set` moves to a new table after so many changes, and the old table points to the new one. Once one has grown old,
 * V8's collection of young objects takes for alive all tables that follow and all that was in them: requests and
 * attempts that ended long ago, until the next collection of everything.
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

  /** To remove what is removed already changes nothing. */
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

  /** The item at hand may be removed. */
  *[Symbol.iterator](): Iterator<Item> {
    for (let link = this.#first; link !== null;) {
      const { item, after } = link;
      yield item;
      link = after;
    }
  }
}
