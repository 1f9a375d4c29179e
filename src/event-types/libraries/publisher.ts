// Made by `partner-api event types --generate ts`. Publishes events of the platform. Needs Node.js 20, Deno, Bun or a browser's fetch.

// begin types
export type EventData = Record<string, object>;
// end types

export type EventType = keyof EventData;

/** An event to publish. */
export type NewEvent = {
  [Type in EventType]: {
    /** Its id, `org_…`, or its slug. */
    organization: string;
    type: Type;
    data: EventData[Type];
    /** ISO 8601. Default: the time of publishing. */
    occurred_at?: string;
    /** A second event with this key within 24 hours is not published. Default: a random one, so that a retry is safe. */
    dedupe_key?: string;
  };
}[EventType];

export interface Published {
  event_id: string;
  deliveries: number;
  /** Whether an event with the same key had been published before. */
  duplicate: boolean;
}

/** The service refused the events, or did not answer at any attempt. */
export class PublishError extends Error {
  /** 0: there was no answer. */
  readonly status: number;
  /** The problem document, or the error of the connection. */
  readonly detail: unknown;

  constructor(status: number, detail: unknown) {
    super(`not published: ${status === 0 ? String(detail) : `status ${status}`}`);
    this.name = "PublishError";
    this.status = status;
    this.detail = detail;
  }
}

export interface PublisherOptions {
  /** The address of the operator API, without `/api/v1/admin`. */
  baseUrl: string | URL;
  /** An operator token. The role `publish` suffices. */
  token: string;
  /** How often a request is sent at most. Default: 5. */
  attempts?: number;
  /** Milliseconds before the second attempt; they double each time. Default: 200. */
  delayMs?: number;
  /** Milliseconds that one attempt may take. Default: 15,000. */
  timeoutMs?: number;
  fetch?: typeof globalThis.fetch;
}

export class Publisher {
  readonly #options: Required<PublisherOptions & { baseUrl: string }>;

  constructor(options: PublisherOptions) {
    const { attempts = 5, delayMs = 200, timeoutMs = 15_000, fetch = globalThis.fetch } = options;
    const baseUrl = String(options.baseUrl).trim().replace(/\/+$/, "");
    if (!/^https?:\/\/[^/]/.test(baseUrl) || baseUrl.endsWith("/api/v1/admin")) {
      throw new TypeError(
        "baseUrl must be the address of the operator API, such as https://…, without /api/v1/admin",
      );
    }
    if (typeof options.token !== "string" || !/^[!-~]+$/.test(options.token)) {
      throw new TypeError(
        "token must be an operator token without white space: is the environment variable set?",
      );
    }
    for (const [name, value, least] of [
      ["attempts", attempts, 1],
      ["delayMs", delayMs, 0],
      ["timeoutMs", timeoutMs, 1],
    ] as const) {
      if (Number.isInteger(value) && value >= least) continue;
      throw new TypeError(`${name} must be a whole number of at least ${least}`);
    }
    this.#options = { ...options, baseUrl, attempts, delayMs, timeoutMs, fetch };
  }

  /** Resolves once the event is durable. */
  async publish(event: NewEvent): Promise<Published> {
    const [published] = await this.publishAll([event]);
    if (!published) throw new PublishError(0, "the answer names no event");
    return published;
  }

  /** Publishes 1 to 1,000 events, all or nothing. */
  async publishAll(events: readonly NewEvent[]): Promise<Published[]> {
    const isList: boolean = Array.isArray(events); // Narrowing would make the events `any`.
    if (!isList) throw new TypeError("publishAll needs an array of events; publish takes one");
    for (const event of events) requireEvent(event);
    // Made once: every attempt repeats these keys, so that no event is published twice.
    const keyed = events.map((event) => ({
      ...event,
      dedupe_key: event.dedupe_key ?? crypto.randomUUID(),
    }));
    const body = JSON.stringify({ events: keyed }, requireJson);
    const { items } = (await this.#send(body)) as { items: Published[] };
    return items;
  }

  async #send(body: string): Promise<unknown> {
    const { attempts, delayMs } = this.#options;
    for (let attempt = 1; ; attempt++) {
      const { status, detail, retryAfterMs } = await this.#attempt(body);
      if (status === 202) return detail;
      const mayPass = status === 0 || status === 429 || status >= 500;
      if (!mayPass || attempt >= attempts) throw new PublishError(status, detail);
      const waitMs = Math.max(retryAfterMs, delayMs * 2 ** (attempt - 1) * (1 + Math.random()));
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }

  async #attempt(body: string): Promise<{ status: number; detail: unknown; retryAfterMs: number }> {
    const { baseUrl, token, timeoutMs, fetch } = this.#options;
    try {
      const response = await fetch(`${baseUrl}/api/v1/admin/events`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body,
        signal: AbortSignal.timeout(timeoutMs),
      });
      const retryAfterMs = 1000 * (Number(response.headers.get("retry-after")) || 0);
      return { status: response.status, detail: await detailOf(response), retryAfterMs };
    } catch (error) {
      return { status: 0, detail: error, retryAfterMs: 0 };
    }
  }
}

function requireEvent(event: unknown): void {
  const { type, data } = (event ?? {}) as { type?: unknown; data?: unknown };
  if (typeof type !== "string") throw new TypeError("an event needs { organization, type, data }");
  const tag = tagOf(data);
  if (tag !== "Object") throw new TypeError(`the data of ${type} must be an object, not ${tag}`);
}

/** JSON.stringify would write null, {} or nothing, or throw an error that does not name the member. */
function requireJson(name: string, value: unknown): unknown {
  if (typeof value === "bigint")
    throw new TypeError(`${name} is a bigint, which JSON cannot express: use a number or a string`);
  if (typeof value === "number" && !Number.isFinite(value))
    throw new TypeError(`${name} is ${value}, which JSON cannot express`);
  const tag = tagOf(value);
  if (EXPRESSIBLE.has(tag)) return value;
  throw new TypeError(`${name} is a ${tag}, which JSON cannot express`);
}

/** What JSON has. An undefined member is absent. */
const EXPRESSIBLE = new Set([
  "Object",
  "Array",
  "String",
  "Number",
  "Boolean",
  "Null",
  "Undefined",
]);

/** `Map`, `Promise`, `Function`, … */
function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice("[object ".length, -1);
}

/** An incomplete success counts as no answer. The status of a refusal counts with any body, also an incomplete one. */
async function detailOf(response: Response): Promise<unknown> {
  if (response.status === 202) return response.json();
  const text = await response.text().catch(String);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
