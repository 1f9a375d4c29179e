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

  /** The oldest item that nobody has taken. Throws when none comes in time. */
  async next(): Promise<Item> {
    if (this.#items.length === 0) await this.#arrival();
    const item = this.#items.shift();
    if (item === undefined) throw new Error(`nothing arrived within ${this.#timeoutMs} ms`);
    return item;
  }

  async #arrival(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.#timeoutMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }
}
