import { parseAddress, unmapped } from "../../domain/ip-address.ts";

/** How many wrong tokens may come from one place in a window. */
const FAILURES_MAX = 10;
const WINDOW_MS = 60_000;
/** How many places are remembered. Beyond that the one whose window opened first is forgotten. */
const PLACES_MAX = 10_000;

interface Window {
  openedMs: number;
  count: number;
}

/** Counts wrong tokens by where they come from, in this process. */
export class FailedSignIns {
  readonly #windows = new Map<string, Window>();

  /** Counts one more: whether it is beyond the limit, the first that is, and seconds until the address begins anew. */
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

  /** How many places are remembered. */
  get size(): number {
    return this.#windows.size;
  }

  #windowOf(place: string, nowMs: number): Window {
    const current = this.#windows.get(place);
    if (current && nowMs < current.openedMs + WINDOW_MS) return current;

    // Deleted first, so that the map stays in the order in which windows opened.
    this.#windows.delete(place);
    const [oldest] = this.#windows.keys();
    if (oldest !== undefined && this.#windows.size >= PLACES_MAX) this.#windows.delete(oldest);

    const opened = { openedMs: nowMs, count: 0 };
    this.#windows.set(place, opened);
    return opened;
  }
}

/** What counts as one: an IPv4 address, or the /64 of an IPv6 one, since whoever has that has all of it. */
function placeOf(address: string): string {
  const parsed = parseAddress(address);
  if (parsed?.family !== 6 || unmapped(parsed)) return address;
  const [first, second] = parsed.words;
  return `${first}:${second}`;
}
