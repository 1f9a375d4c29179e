/** The shortest wait after a read that found nothing. */
const REST_MS = 2;
/** The wait grows with the time since a row was found. */
const PART = 1 / 4;

/** How long a reader of a table waits after a read that found nothing: shortly while rows come, and up to `maxMs` once none do. */
export class Rest {
  readonly #maxMs: number;
  #foundMs = -Infinity;

  constructor(maxMs: number) {
    this.#maxMs = maxMs;
  }

  afterRead(rows: number, nowMs = performance.now()): number {
    if (rows > 0) this.#foundMs = nowMs;
    return Math.min(this.#maxMs, Math.max(REST_MS, (nowMs - this.#foundMs) * PART));
  }
}
