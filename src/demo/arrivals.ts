/** A queue from a receiver to a waiting reader. */
export class Arrivals<Item> {
  readonly #timeoutMs: number;
  readonly #items: Item[] = [];
  #wake: (() => void) | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  add(item: Item): void {
    this.#items.push(item);
    this.#wake?.();
  }

  /** Removes and returns the oldest item. Throws if none arrives in time or if `stop` aborts. */
  async next(stop: AbortSignal): Promise<Item> {
    if (this.#items.length === 0) await this.#arrival(stop);
    stop.throwIfAborted();
    const item = this.#items.shift();
    if (item === undefined) throw new Error(`nothing arrived within ${this.#timeoutMs} ms`);
    return item;
  }

  async #arrival(stop: AbortSignal): Promise<void> {
    const waited = AbortSignal.any([stop, AbortSignal.timeout(this.#timeoutMs)]);
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      waited.addEventListener("abort", () => resolve(), { once: true });
    });
    this.#wake = undefined;
  }
}
