/** A queue between a receiver and whoever waits for its deliveries. */
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

  /** The oldest item that nobody has taken. Throws when none comes in time, or when `stop` ends the wait. */
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
