type Work = () => unknown;

/** What has to be stopped and removed at the end, the last first. */
export class Afterwards {
  readonly #works: Work[] = [];
  #isOver = false;

  get isOver(): boolean {
    return this.#isOver;
  }

  /** What comes when all is over already is done at once. */
  after(work: Work): void {
    if (this.#isOver) void work();
    else this.#works.push(work);
  }

  /** Does everything, also when something fails, and then throws the first failure. */
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
