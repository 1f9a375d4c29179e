import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { BoundedCache } from "../lib/bounded-cache.ts";
import type { EventTypes } from "../subjects/event-types/rules.ts";
import { verify } from "../webhook/verify.ts";
import type { Arrival } from "./arrival.ts";
import { isSigningSecret } from "./command.ts";
import { type Behaviour, type Received, replyTo } from "./receiver.ts";

/** A sender that numbers its attempts makes fewer. */
const ATTEMPT = /^[1-9][0-9]{0,3}$/;
const COUNTED_MAX = 10_000;
const SECRETS_MAX = 100;

/** Verifies arrivals, finds the number of each attempt and decides the reply. */
export class Judge {
  readonly #secrets: string[];
  readonly #behaviour: Behaviour;
  readonly #attempts = new BoundedCache<string, number>(COUNTED_MAX);
  readonly #eventTypes: EventTypes | null;

  /** With `eventTypes`, data is compared with the schema of its type. */
  constructor(
    secrets: readonly string[],
    behaviour: Behaviour,
    eventTypes: EventTypes | null = null,
  ) {
    this.#eventTypes = eventTypes;
    this.#secrets = [...secrets];
    this.#behaviour = behaviour;
  }

  /** Verifies with this secret, too. Returns how many there are: the newest hundred. */
  learn(secret: string): number {
    if (!this.#secrets.includes(secret)) this.#secrets.push(secret);
    if (this.#secrets.length > SECRETS_MAX) this.#secrets.shift();
    return this.#secrets.length;
  }

  async judge(received: Received, at: Date): Promise<Arrival> {
    const { event: eventType, id: eventId, subscription_id } = envelopeIds(received.body);
    // An event may go to several subscriptions, each with attempts of its own.
    const counted = this.#count(JSON.stringify([subscription_id, eventId]));
    const said = received.headers["x-vc-attempt"];
    const attempt = typeof said === "string" && ATTEMPT.test(said) ? Number(said) : counted;
    return {
      ...received,
      at,
      verdict: await this.#verdict(received),
      eventType,
      eventId,
      attempt,
      dataFaults: this.#dataFaults(received.body),
      forwardedTo: null,
      forwardError: null,
      reply: replyTo(attempt, this.#behaviour),
    };
  }

  #count(event: string): number {
    const attempt = (this.#attempts.get(event) ?? 0) + 1;
    this.#attempts.set(event, attempt);
    return attempt;
  }

  #dataFaults(body: Buffer): string[] | null {
    if (this.#eventTypes === null) return null;
    const { event, data } = parse(body);
    const type = this.#eventTypes.find(String(event));
    if (!type) return ["no file in EVENT_TYPES describes this type"];
    return type.faultsOf(data).map(({ pointer, detail }) => `data${pointer} ${detail}`);
  }

  async #verdict({ headers, body }: Received): Promise<Arrival["verdict"]> {
    if (this.#secrets.length === 0) return "unverified";
    return (await verify({ secret: this.#secrets, headers, body })).verdict;
  }
}

/** Reads the ids of an envelope, genuine or not. */
export function envelopeIds(
  body: Buffer,
): Record<"event" | "id" | "subscription_id", string | null> {
  const envelope = parse(body);
  const text = (name: string) => (typeof envelope[name] === "string" ? envelope[name] : null);
  return { event: text("event"), id: text("id"), subscription_id: text("subscription_id") };
}

function parse(body: Buffer): Record<string, unknown> {
  try {
    return Object(JSON.parse(body.toString("utf8"))) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/**
 * Calls `tell` for each line of the input: with a signing secret, or with null for anything else. Returns a function that
 * stops. An error of the input only ends the learning.
 */
export function learnSecrets(input: Readable, tell: (secret: string | null) => void): () => void {
  const lines = createInterface({ input, terminal: false });
  lines.on("line", (line) => {
    const text = line.trim();
    if (text !== "") tell(isSigningSecret(text) ? text : null);
  });
  lines.on("error", () => lines.close());
  return () => {
    lines.close();
    input.destroy();
  };
}
