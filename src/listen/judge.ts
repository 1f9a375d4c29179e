import type { EventTypes } from "../domain/event-types.ts";
import { type Behaviour, replyTo } from "../receiver/behaviour.ts";
import type { Received } from "../receiver/receiver.ts";
import { verify } from "../webhook/verify.ts";
import type { Arrival } from "./arrival.ts";

/** Verifies arrivals, counts the attempts of each event and decides the reply. */
export class Judge {
  readonly #secrets: readonly string[];
  readonly #behaviour: Behaviour;
  readonly #attempts = new Map<string, number>();

  readonly #eventTypes: EventTypes | null;

  /** With `eventTypes`, data is compared with the schema of its type. */
  constructor(
    secrets: readonly string[],
    behaviour: Behaviour,
    eventTypes: EventTypes | null = null,
  ) {
    this.#eventTypes = eventTypes;
    this.#secrets = secrets;
    this.#behaviour = behaviour;
  }

  async judge(received: Received, at: Date): Promise<Arrival> {
    const { event: eventType, id: eventId, subscription_id } = readIds(received.body);
    // An event may go to several subscriptions, each with attempts of its own.
    const attempt = this.#count(JSON.stringify([subscription_id, eventId]));
    return {
      ...received,
      at,
      verdict: await this.#verdict(received),
      eventType,
      eventId,
      attempt,
      dataFaults: this.#dataFaults(received.body),
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

function readIds(body: Buffer): Record<"event" | "id" | "subscription_id", string | null> {
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
