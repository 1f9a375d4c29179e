import { parseAddress, unmapped } from "../../lib/ip-address.ts";

/** The most wrong tokens from one place in a window. */
const FAILURES_MAX = 10;
const WINDOW_MS = 60_000;
/** The most places in memory. Beyond it the one with the oldest window is forgotten. */
const PLACES_MAX = 10_000;

interface Window {
  openedMs: number;
  count: number;
}

/** Counts wrong tokens by place, in this process. */
export class FailedSignIns {
  readonly #windows = new Map<string, Window>();

  /** Counts one more. Returns if it is above the limit, if it is the first above it, and the seconds until the window ends. */
  count(
    address: string,
    now: Date,
  ): { isTooMany: boolean; isFirst: boolean; resetSeconds: number } {
    const nowMs = now.getTime();
    const window = this.#windowOf(placeOf(address), nowMs);
    window.count++;
    return {
      isTooMany: window.count > FAILURES_MAX,
      isFirst: window.count === FAILURES_MAX + 1,
      resetSeconds: Math.max(1, Math.ceil((window.openedMs + WINDOW_MS - nowMs) / 1000)),
    };
  }

  /** The number of places in memory. */
  get size(): number {
    return this.#windows.size;
  }

  #windowOf(place: string, nowMs: number): Window {
    const current = this.#windows.get(place);
    if (current && nowMs < current.openedMs + WINDOW_MS) return current;

    // Deleted first, so that the map stays ordered by the beginning of the windows.
    this.#windows.delete(place);
    const [oldest] = this.#windows.keys();
    if (oldest !== undefined && this.#windows.size >= PLACES_MAX) this.#windows.delete(oldest);

    const opened = { openedMs: nowMs, count: 0 };
    this.#windows.set(place, opened);
    return opened;
  }
}

/** A place is an IPv4 address, or an IPv6 /64, because its holder has all of its addresses. */
function placeOf(address: string): string {
  const parsed = parseAddress(address);
  if (parsed?.family !== 6 || unmapped(parsed)) return address;
  const [first, second] = parsed.words;
  return `${first}:${second}`;
}
