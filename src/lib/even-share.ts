/** Shares permits evenly among holders. Each can always take one, so holders may exceed the number of permits. */
export class EvenShare {
  readonly #permits: number;
  readonly #held = new Map<string, number>();

  constructor(permits: number) {
    this.#permits = permits;
  }

  /** Returns false if the holder already has its share. */
  take(holder: string): boolean {
    const held = this.#held.get(holder) ?? 0;
    const holders = this.#held.size + (held === 0 ? 1 : 0);
    if (held >= Math.max(1, Math.floor(this.#permits / holders))) return false;
    this.#held.set(holder, held + 1);
    return true;
  }

  /** Gives a permit back. */
  give(holder: string): void {
    const left = (this.#held.get(holder) ?? 0) - 1;
    if (left > 0) this.#held.set(holder, left);
    else this.#held.delete(holder);
  }
}
