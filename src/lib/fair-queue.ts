/** Items of several holders. They are taken in turn, one of each holder, and those of one holder in their order. */
export class FairQueue<Holder, Item> {
  readonly #lines = new Map<Holder, Item[]>();

  add(holder: Holder, item: Item): void {
    const line = this.#lines.get(holder);
    if (line) line.push(item);
    else this.#lines.set(holder, [item]);
  }

  /** Puts an item back in front of its holder's others. */
  putBack(holder: Holder, item: Item): void {
    this.#lines.set(holder, [item, ...(this.#lines.get(holder) ?? [])]);
  }

  /** Takes an item of the holder whose turn it is, of those that `mayTake` permits. */
  take(mayTake: (holder: Holder) => boolean = () => true): Item | undefined {
    for (const [holder, line] of this.#lines) {
      if (!mayTake(holder)) continue;
      const item = line.shift();
      this.#lines.delete(holder);
      if (line.length > 0) this.#lines.set(holder, line); // At the end, so that the others come first.
      return item;
    }
    return undefined;
  }

  takeAll(): Item[] {
    const all = [...this.#lines.values()].flat();
    this.#lines.clear();
    return all;
  }
}
