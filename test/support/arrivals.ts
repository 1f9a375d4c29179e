/** A list that grows while a test waits for an item. */
export class Arrivals<T> {
  readonly all: T[] = [];
  #waiting: (() => void)[] = [];

  add(item: T): void {
    this.all.push(item);
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Resolves to the first result of `find`. */
  async until<Found>(find: (all: readonly T[]) => Found | undefined): Promise<Found> {
    for (;;) {
      const found = find(this.all);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }
}
