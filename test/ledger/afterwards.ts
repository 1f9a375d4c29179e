type Work = () => unknown;

/** Work to do at the end, the last first. */
export class Afterwards {
  readonly #works: Work[] = [];
  #isOver = false;

  get isOver(): boolean {
    return this.#isOver;
  }

  /** After the end, does new work at once. */
  after(work: Work): void {
    if (this.#isOver) void work();
    else this.#works.push(work);
  }

  /** Does all the work, even after a failure, and then throws the first failure. */
  async run(): Promise<void> {
    this.#isOver = true;
    const failures: unknown[] = [];
    for (const work of this.#works.reverse()) {
      try {
        await work();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
