/**
 * Tells whether the attempts at a host are answered.
 *
 * The host is failing if its attempts without an answer used more time of slots than the others, in the last one to two windows.
 * So one path that answers does not excuse many that hang, and one path that hangs does not count against a host that
 * answers many others.
 */
export class HostRecord {
  readonly #windowMs: number;
  #windowEndsMs = -Infinity;
  /** Time without an answer, minus the time of answered attempts. */
  #balanceMs = 0;
  /** The same, in the window before. */
  #beforeMs = 0;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  get isFailing(): boolean {
    return this.#balanceMs + this.#beforeMs > 0;
  }

  note(isAnswered: boolean, { beganMs, nowMs }: { beganMs: number; nowMs: number }): void {
    if (nowMs >= this.#windowEndsMs) {
      this.#beforeMs = nowMs < this.#windowEndsMs + this.#windowMs ? this.#balanceMs : 0;
      this.#balanceMs = 0;
      this.#windowEndsMs = nowMs + this.#windowMs;
    }
    const tookMs = Math.max(1, nowMs - beganMs);
    this.#balanceMs += isAnswered ? -tookMs : tookMs;
  }
}
