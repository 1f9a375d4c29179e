/** The wait between two reads while rows come. */
const REST_MS = { min: 5, max: 20 };
/** A read takes at most a fifth of the time, so each finds more rows where the machine is busy. */
const REST_OF_READ = 4;
/** The wait grows with the time since a row was found. */
const REST_OF_SILENCE = 1 / 4;
/** Where as many rows wait, nothing else does. */
const MANY = 100;
/** Fewer published rows wait for others, because a mark keeps the connection from reading. */
const GATHER_MS = 25;

/** When a reader of a table reads next: soon while rows come, and after `maxMs` once none do. */
export class Rest {
  readonly #maxMs: number;
  #foundMs = -Infinity;
  #nextMs = -Infinity;

  constructor(maxMs: number) {
    this.#maxMs = maxMs;
  }

  afterRead(rows: number, max: number, beganMs: number, nowMs = performance.now()): void {
    if (rows > 0) this.#foundMs = nowMs;
    const ofRead = Math.min(REST_MS.max, (nowMs - beganMs) * REST_OF_READ);
    const ofSilence = (nowMs - this.#foundMs) * REST_OF_SILENCE;
    const restMs = Math.min(this.#maxMs, Math.max(REST_MS.min, ofRead, ofSilence));
    this.#nextMs = rows < Math.min(max, MANY) ? nowMs + restMs : nowMs;
  }

  /** Returns how long until the next read. */
  leftMs(nowMs = performance.now()): number {
    return Math.max(0, this.#nextMs - nowMs);
  }
}

export function beforeMarkMs(rows: number): number {
  return rows < MANY ? GATHER_MS : 0;
}
