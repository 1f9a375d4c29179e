import { Counter, Gauge, Registry } from "prom-client";
import type { Lag } from "./source.ts";

/** What a pump counts. */
export interface SourceMetrics {
  published(events: number, duplicates: number): void;
  setAside(): void;
  failed(): void;
}

export interface Watched {
  name: string;
  /** Null if it is not known. */
  lag: () => Promise<Lag | null>;
  held: () => number;
}

/** A source that does not answer in time has no lag in this scrape. */
const LAG_MS = 2_000;

export class BridgeMetrics {
  readonly #registry = new Registry();
  readonly #published = this.#counter("published", "Events that the service has made durable");
  readonly #duplicates = this.#counter("duplicates", "Published events that the service knew");
  readonly #setAside = this.#counter("set_aside", "Messages that can never be published");
  readonly #failed = this.#counter("failed_requests", "Requests that are tried again");
  readonly #lag = this.#gauge("lag_messages", "Messages of the source that are not settled");
  readonly #lagBytes = this.#gauge(
    "lag_bytes",
    "Bytes of the log of the source that are not settled",
  );
  readonly #held = this.#gauge("held_messages", "Received messages that are not settled");
  readonly #lastPublished = this.#gauge(
    "last_published_timestamp_seconds",
    "When an event of the source was last published",
  );

  /** Every series of a source starts at 0, so that its first increase shows. */
  of(source: string, now: () => Date): SourceMetrics {
    const counters = [this.#published, this.#duplicates, this.#setAside, this.#failed];
    for (const counter of counters) counter.inc({ source }, 0);
    return {
      published: (events, duplicates) => {
        this.#published.inc({ source }, events - duplicates);
        this.#duplicates.inc({ source }, duplicates);
        this.#lastPublished.set({ source }, now().getTime() / 1_000);
      },
      setAside: () => this.#setAside.inc({ source }),
      failed: () => this.#failed.inc({ source }),
    };
  }

  async expose(watched: readonly Watched[]): Promise<{ contentType: string; body: string }> {
    this.#lag.reset();
    this.#lagBytes.reset();
    await Promise.all(
      watched.map(async ({ name: source, lag, held }) => {
        this.#held.set({ source }, held());
        const { messages, bytes } = (await lagWithin(lag)) ?? {};
        if (messages !== undefined) this.#lag.set({ source }, messages);
        if (bytes !== undefined) this.#lagBytes.set({ source }, bytes);
      }),
    );
    return { contentType: this.#registry.contentType, body: await this.#registry.metrics() };
  }

  #counter(what: string, help: string): Counter<"source"> {
    const name = `partner_api_bridge_${what}_total`;
    return new Counter({ name, help, labelNames: ["source"], registers: [this.#registry] });
  }

  #gauge(what: string, help: string): Gauge<"source"> {
    const name = `partner_api_bridge_${what}`;
    return new Gauge({ name, help, labelNames: ["source"], registers: [this.#registry] });
  }
}

/** The lag of a source, or null if it does not say it in time. */
export function lagWithin(lag: Watched["lag"]): Promise<Lag | null> {
  return within(LAG_MS, lag());
}

async function within<T>(ms: number, asked: Promise<T | null>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => (timer = setTimeout(resolve, ms, null)));
  try {
    return await Promise.race([asked.catch(() => null), late]);
  } finally {
    clearTimeout(timer);
  }
}
