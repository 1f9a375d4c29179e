import { setTimeout as sleep } from "node:timers/promises";
import { escapeIdentifier } from "pg";
import { Client, type ClientOptions } from "./client.ts";
import { closed } from "./failure.ts";
import type { Address } from "./url.ts";

export interface ListenerOptions {
  /** The statement that returns the `name` of the channel. */
  channel: string;
  onNotification: (payload: string) => void;
  /** How long to wait before it connects again. */
  retryMs?: number;
  /** How often to check that the server is alive. */
  checkMs?: number;
  /** How long the server may take to answer. */
  answerMs?: number;
}

const RETRY_MS = 250;
const CHECK_MS = 10_000;
const ANSWER_MS = 5_000;

/**
 * Listens on a channel of the primary, over its own connection. If the connection is lost, it connects to the next address.
 * Notifications sent meanwhile are lost.
 */
export class Listener {
  readonly #way: ClientOptions & { addresses: Address[] };
  readonly #options: Required<ListenerOptions>;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #hears: () => void = () => undefined;
  /** Resolves when it listens for the first time. */
  readonly listening = new Promise<void>((resolve) => (this.#hears = resolve));

  constructor(way: ClientOptions & { addresses: Address[] }, options: ListenerOptions) {
    this.#way = way;
    this.#options = { retryMs: RETRY_MS, checkMs: CHECK_MS, answerMs: ANSWER_MS, ...options };
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    for (let index = 0; !signal.aborted; index = (index + 1) % this.#way.addresses.length) {
      await this.#listen(index).catch(() => undefined); // The server is unavailable. The next address is tried.
      await pause(this.#options.retryMs, signal);
    }
  }

  async #listen(index: number): Promise<void> {
    const { addresses, ...way } = this.#way;
    const { channel, onNotification, checkMs, answerMs } = this.#options;
    const client = new Client({ ...way, ...addresses[index] }, index);
    const gone = new AbortController();
    client.once("end", () => gone.abort());
    client.on("notification", ({ payload = "" }) => onNotification(payload));
    const over = AbortSignal.any([this.#stopping.signal, gone.signal]);
    over.addEventListener("abort", () => client.cut(closed()));

    await client.connect();
    const [found] = await client.ask({ text: channel }, answerMs);
    const name = escapeIdentifier(String(found?.["name"]));
    await client.ask({ text: `listen ${name}` }, answerMs);
    this.#hears();
    for (;;) {
      await pause(checkMs, over);
      await client.ask({ text: "select" }, answerMs); // Throws after the connection was closed.
    }
  }
}

async function pause(ms: number, until: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: until }).catch(() => undefined);
}
