import { setTimeout as sleep } from "node:timers/promises";

const FULL = { messages: 500, bytes: 4 * 1024 * 1024 };

/** Messages that a client has pushed and the pump has not taken yet. A push waits while it is full. */
export class Inbox<Own extends { body: string | Uint8Array }> {
  #messages: Own[] = [];
  #bytes = 0;
  #failure: Error | null = null;
  #wake = new AbortController();

  constructor(stop: AbortSignal) {
    stop.addEventListener("abort", () => this.#nudge());
  }

  get isFull(): boolean {
    return this.#messages.length >= FULL.messages || this.#bytes >= FULL.bytes;
  }

  put(message: Own): void {
    this.#messages.push(message);
    this.#bytes += message.body.length;
    this.#nudge();
  }

  /** The next `take` throws. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#nudge();
  }

  clear(): void {
    this.#messages = [];
    this.#bytes = 0;
    this.#failure = null;
    this.#nudge();
  }

  /** Returns at most `max` messages. Waits for the first one. */
  async take(max: number, waitMs: number): Promise<Own[]> {
    if (this.#messages.length === 0 && this.#failure === null) await this.#wait(waitMs);
    if (this.#failure !== null) throw this.#failure;
    const taken = this.#messages.splice(0, max);
    for (const { body } of taken) this.#bytes -= body.length;
    if (taken.length > 0) this.#nudge();
    return taken;
  }

  /** Waits until there may be room. */
  async room(waitMs: number): Promise<void> {
    await this.#wait(waitMs);
  }

  async #wait(ms: number): Promise<void> {
    await sleep(ms, null, { signal: this.#wake.signal }).catch(() => undefined);
  }

  #nudge(): void {
    this.#wake.abort();
    this.#wake = new AbortController();
  }
}
