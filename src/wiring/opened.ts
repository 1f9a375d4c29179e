/**
 * The opened parts, each with its close function. They are closed in reverse order, so that each part closes before those that
 * it needs. This happens at a stop, and if the start fails.
 */
export class Opened {
  readonly #closers: (() => unknown)[] = [];

  /** Adds the close function of a part that was just opened. */
  add(close: () => unknown): void {
    this.#closers.push(close);
  }

  /** Closes everything once, even if parts fail to close. Then throws an error that names every fault. */
  async close(): Promise<void> {
    const errors: unknown[] = [];
    for (const close of this.#closers.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        errors.push(error);
      }
    }
    const [first, ...others] = errors;
    if (others.length > 0) throw new Error(errors.map(String).join("; "), { cause: first });
    if (errors.length > 0) throw first;
  }
}
