/** Counts how often each key is held. Keys that are not held take no memory. */
export class Tally<Key> {
  readonly #counts = new Map<Key, number>();
  #total = 0;

  /** Keys that are held. */
  get size(): number {
    return this.#counts.size;
  }

  /** The sum of all counts. */
  get total(): number {
    return this.#total;
  }

  of(key: Key): number {
    return this.#counts.get(key) ?? 0;
  }

  add(key: Key): void {
    this.#total++;
    this.#counts.set(key, this.of(key) + 1);
  }

  remove(key: Key): void {
    const left = this.of(key) - 1;
    if (left >= 0) this.#total--;
    if (left > 0) this.#counts.set(key, left);
    else this.#counts.delete(key);
  }

  [Symbol.iterator](): Iterator<[Key, number]> {
    return this.#counts.entries();
  }
}
