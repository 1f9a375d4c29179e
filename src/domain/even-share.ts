/** Shares places evenly among those who hold any. Each of them can always take one, so more may be held than there are. */
export class EvenShare {
  readonly #places: number;
  readonly #held = new Map<string, number>();

  constructor(places: number) {
    this.#places = places;
  }

  /** False if the holder has its share already. */
  take(holder: string): boolean {
    const held = this.#held.get(holder) ?? 0;
    const holders = this.#held.size + (held === 0 ? 1 : 0);
    if (held >= Math.max(1, Math.floor(this.#places / holders))) return false;
    this.#held.set(holder, held + 1);
    return true;
  }

  /** Gives back a place that was taken. */
  give(holder: string): void {
    const left = (this.#held.get(holder) ?? 0) - 1;
    if (left > 0) this.#held.set(holder, left);
    else this.#held.delete(holder);
  }
}
