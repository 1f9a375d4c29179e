type Close = () => Promise<void>;

/** What was opened and has to be closed, the last first. */
export class Opened {
  readonly #closers: Close[] = [];
  #isOver = false;

  /** What is opened when all is over already is closed at once. */
  add(close: Close): void {
    if (this.#isOver) void close();
    else this.#closers.push(close);
  }

  /** Closes everything, also when something cannot be closed, and then throws the first failure. */
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
