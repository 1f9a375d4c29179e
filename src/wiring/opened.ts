/**
 * What has been opened so far, each with how to close it. It is closed in the opposite order, so that nothing outlives what
 * it needs: at a stop, and where a later step of the start fails.
 */
export class Opened {
  readonly #closers: (() => unknown)[] = [];

  /** Notes how to close what has just been opened. */
  add(close: () => unknown): void {
    this.#closers.push(close);
  }

  /** Closes everything, once, also below what fails to close. Throws the first error when all is closed. */
  async close(): Promise<void> {
    const errors: unknown[] = [];
    for (const close of this.#closers.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}
