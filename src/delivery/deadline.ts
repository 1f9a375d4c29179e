import { AttemptFailed, TIMED_OUT } from "./attempt-failed.ts";

/**
 * The one limit of an attempt, from look-up to the last byte that we read. At any time one thing is
 * under way for an attempt, and that is what a deadline ends.
 */
export class Deadline {
  readonly #timer: NodeJS.Timeout;
  #cancel: ((why: AttemptFailed) => void) | undefined;
  #passed: AttemptFailed | undefined;
  #isLifted = false;

  constructor(ms: number) {
    this.#timer = setTimeout(() => {
      // What came while we ourselves stood still is read first: else our pause would be the receiver's fault.
      setImmediate(() => setImmediate(() => this.#pass()));
    }, ms);
  }

  /** From now on `cancel` is what ends the thing under way; it runs at once if it is too late already. */
  guard(cancel: (why: AttemptFailed) => void): void {
    this.#cancel = cancel;
    if (this.#passed !== undefined) cancel(this.#passed);
  }

  /** Waits for what cannot be cancelled, but no longer than there is time. */
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

  /** The attempt is over and holds nothing that would have to be ended. */
  lift(): void {
    this.#isLifted = true;
    clearTimeout(this.#timer);
  }
}
