import { BoundedCache } from "../lib/bounded-cache.ts";
import { Tally } from "../lib/tally.ts";

/** Hosts that are remembered because they close their connections. */
const KNOWN_MAX = 20_000;

/**
 * Lets the attempts at a host wait for each other's connections, because to set one up costs more than ten requests. Otherwise a
 * dispatcher that begins with a backlog would set up one for each attempt, although most could use one that another attempt has left.
 */
export class SetUps {
  readonly #waitMs: number;
  readonly #running = new Tally<string>();
  /** The attempts at a host that wait, longest wait first. */
  readonly #waiting = new Map<string, Set<() => void>>();
  /** Hosts whose last connection was closed after its request. */
  readonly #closing = new BoundedCache<string, boolean>(KNOWN_MAX);

  /** `waitMs`: an attempt waits no longer, because the receiver may be slow. */
  constructor(waitMs: number) {
    this.#waitMs = waitMs;
  }

  /** Returns true if another attempt sets up a connection to the host, or waits for one, and may leave it to the next. */
  isBusy(host: string): boolean {
    if (this.#closing.get(host) === true) return false;
    return this.#running.of(host) > 0 || this.#waiting.has(host);
  }

  /** Resolves when another attempt has left a connection or got none, or after `waitMs`. */
  turn(host: string): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(host) ?? new Set();
      const go = () => {
        if (!waiting.delete(go)) return;
        clearTimeout(timer);
        if (waiting.size === 0) this.#waiting.delete(host);
        resolve();
      };
      const timer = setTimeout(go, this.#waitMs).unref();
      this.#waiting.set(host, waiting.add(go));
    });
  }

  async run<Result>(host: string, setUp: () => Promise<Result>): Promise<Result> {
    this.#running.add(host);
    const beganMs = performance.now();
    try {
      const result = await setUp();
      this.#wakeNextAfter(host, performance.now() - beganMs);
      return result;
    } catch (error) {
      this.#wakeNext(host);
      throw error;
    } finally {
      this.#running.remove(host);
    }
  }

  /** Call it when an attempt has left its connection to the next. Returns false if none waits for it. */
  left(host: string): boolean {
    if (this.#closing.get(host) === true) this.#closing.set(host, false);
    return this.#wakeNext(host);
  }

  /** Call it when a connection was closed after its request. */
  closed(host: string): void {
    if (this.#closing.get(host) !== true) this.#closing.set(host, true);
    for (const go of this.#waiting.get(host) ?? []) go();
  }

  /** If a connection is not left after as long as its set-up took, the receiver may hang. Then the next attempt sets one up. */
  #wakeNextAfter(host: string, tookMs: number): void {
    const [longest] = this.#waiting.get(host) ?? [];
    if (longest) setTimeout(longest, tookMs).unref();
  }

  /** Returns false if none waits. */
  #wakeNext(host: string): boolean {
    const [longest] = this.#waiting.get(host) ?? [];
    longest?.();
    return longest !== undefined;
  }
}
