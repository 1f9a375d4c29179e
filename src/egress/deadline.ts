import { AttemptFailed, TIMED_OUT } from "./attempt-failed.ts";

/**
 * The time limit of an attempt, from look-up to the last byte that we read. An attempt does one thing at a time, and the
 * deadline cancels that.
 */
export class Deadline {
  readonly #timer: NodeJS.Timeout;
  #cancel: ((why: AttemptFailed) => void) | undefined;
  #passed: AttemptFailed | undefined;
  #isLifted = false;

  constructor(ms: number) {
    this.#timer = setTimeout(() => {
      // Input that arrived while our process stood still is read first. The receiver must not be blamed for our pause.
      setImmediate(() => setImmediate(() => this.#pass()));
    }, ms);
  }

  /** Sets the function that the deadline calls. Calls it at once if the time is over. */
  guard(cancel: (why: AttemptFailed) => void): void {
    this.#cancel = cancel;
    if (this.#passed !== undefined) cancel(this.#passed);
  }

  /** Waits for a promise that cannot be cancelled, until the deadline. */
  async bound<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.guard(reject);
      promise.then(resolve, reject);
    });
  }

  #pass(): void {
    if (!this.#isLifted) this.end(new AttemptFailed(TIMED_OUT));
  }

  end(why: AttemptFailed): void {
    this.lift();
    this.#passed ??= why;
    this.#cancel?.(this.#passed);
  }

  /** Removes the limit, because the attempt is over and has nothing to cancel. */
  lift(): void {
    this.#isLifted = true;
    clearTimeout(this.#timer);
  }
}
