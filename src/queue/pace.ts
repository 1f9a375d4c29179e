import type { OrganizationId } from "../lib/ids.ts";
import { Tally } from "../lib/tally.ts";

/** How often the pace adapts, in ms. */
const WINDOW_MS = 20;
/** How long attempts count, in ms: from one to two of these. */
const MEMORY_MS = 1_000;
/** The thread is busy if it works for a larger part of a window. */
const BUSY = 0.9;
/** Attempts of a window. With fewer, a queue would stop. With more, the pace does not matter. */
const PACE_MIN = 4;
const PACE_MAX = 64;
/** An organization is large if it began more than one and a half times the mean of all, and this many attempts more. */
const MARGIN = 64;

/** Returns the part of the time since the last call in which the thread was not idle. */
export type Utilization = () => number;

/**
 * Leaves time of a busy thread to organizations with few attempts.
 *
 * Slots do not bound attempts that end at once, for example at receivers that answer 500 at once. Thousands of them occupy the
 * thread, and the events of all others wait for it. So while the thread is busy, a large organization may begin a limited number of
 * attempts in each window. The number halves after a busy window and grows by one after any other.
 */
export class Pace {
  readonly #utilization: Utilization;
  readonly #nowMs: () => number;
  #attempts = Infinity;
  #windowEndsMs = -Infinity;
  #memoryEndsMs = -Infinity;
  #inWindow = new Tally<OrganizationId>();
  #recent = new Tally<OrganizationId>();
  #before = new Tally<OrganizationId>();
  readonly #large = new Set<OrganizationId>();

  constructor(utilization: Utilization, nowMs: () => number) {
    this.#utilization = utilization;
    this.#nowMs = nowMs;
  }

  /** Counts an attempt that begins. */
  note(organization: OrganizationId): void {
    this.#roll();
    this.#recent.add(organization);
    if (this.#isLarge(organization)) this.#large.add(organization);
    if (this.#large.size > 0) this.#inWindow.add(organization);
  }

  /** Returns how many attempts the organization may begin now. */
  leftFor(organization: OrganizationId): number {
    this.#roll();
    if (this.#attempts === Infinity || !this.#large.has(organization)) return Infinity;
    return Math.max(0, this.#attempts - this.#inWindow.of(organization));
  }

  /** The time until a limited organization may begin the next attempts, in ms. */
  get nextInMs(): number {
    this.#roll();
    return this.#attempts === Infinity ? Infinity : this.#windowEndsMs - this.#nowMs();
  }

  #isLarge(organization: OrganizationId): boolean {
    const own = this.#recent.of(organization) + this.#before.of(organization);
    const all = this.#recent.total + this.#before.total;
    const organizations = Math.max(this.#recent.size, this.#before.size);
    return own > MARGIN + (1.5 * all) / organizations;
  }

  #roll(): void {
    const nowMs = this.#nowMs();
    if (nowMs < this.#windowEndsMs) return;
    if (nowMs > this.#memoryEndsMs + MEMORY_MS) this.#forget();
    this.#windowEndsMs = nowMs + WINDOW_MS;
    this.#inWindow = new Tally();
    const isBusy = this.#utilization() > BUSY;
    this.#attempts = this.#large.size > 0 ? next(this.#attempts, isBusy) : Infinity;
    if (nowMs < this.#memoryEndsMs) return;
    this.#memoryEndsMs = nowMs + MEMORY_MS;
    this.#before = this.#recent;
    this.#recent = new Tally();
    for (const one of this.#large) if (!this.#isLarge(one)) this.#large.delete(one);
  }

  /** Nothing was attempted for longer than attempts count. */
  #forget(): void {
    this.#large.clear();
    this.#recent = new Tally();
    this.#before = new Tally();
  }
}

/** Limits nobody. */
export const NO_PACE = new Pace(
  () => 0,
  () => 0,
);

function next(attempts: number, isBusy: boolean): number {
  if (isBusy) return Math.max(PACE_MIN, Math.floor(Math.min(attempts, PACE_MAX) / 2));
  return attempts < PACE_MAX ? attempts + 1 : Infinity;
}
