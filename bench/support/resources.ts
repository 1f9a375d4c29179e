type Close = () => Promise<void>;

/** Resources to close, the last one first. */
export class Resources {
  readonly #closers: Close[] = [];
  #isOver = false;

  /** After the end, closes a new resource at once. */
  add(close: Close): void {
    if (this.#isOver) void close();
    else this.#closers.push(close);
  }

  /** Closes everything, even after a failure, and then throws the first failure. */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (let close = this.#closers.pop(); close !== undefined; close = this.#closers.pop()) {
      await close().catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.close();
  }
}
