import { publicId } from "../domain/ids.ts";
import { currentSpans, inSpans } from "../lib/tracing.ts";
import { batch, type BatchOptions } from "../lib/batch.ts";
import { isDeadlock, isInUse } from "../postgres/database.ts";
import type { Parts } from "./dependencies.ts";
import { publishAtOnce } from "./publish.ts";
import type { NewEvent } from "../domain/event.ts";
import { type Published, NO_SLOTS } from "./publication.ts";

/** How long slots stay reserved for an event whose dedupe key another publisher holds and has not committed. */
const KEY_WAIT_MS = 100;
/** The same for an event that has already waited so long, together with others. */
const KEY_WAIT_APART_MS = 10;
/** The most statements of batches in the database at a time. Each uses one connection. */
const BATCHES_AT_ONCE = 2;
/** How much batches that share a statement may weigh together, in characters of data. An event counts for some in itself. */
const SHARED_MAX = 524_288;
const EVENT_WEIGHT = 1_024;
/** The most runs of a batch that ends in deadlocks. */
const TRIES_MAX = 3;

export interface Publishing {
  publish: (event: NewEvent) => Promise<Published>;
  publishAll: (events: NewEvent[]) => Promise<Published[]>;
}

/**
 * The ways to the one statement that publishes. Single events share it, and so do small batches. Events with a dedupe key go
 * separately, because they may have to wait for open transactions of other publishers. After a long wait the events of a statement go on
 * one by one, because only some of their keys are held. Events that still have to wait do so in a queue of their own, with
 * no slot reserved.
 */
export function createPublishing(
  parts: Parts,
  options: BatchOptions & { patienceMs: number },
): Publishing {
  const { noteWrite = <Result>(write: Promise<Result>) => write } = parts;
  const alone = { ...options, max: 1 };

  const holderOf = ({ organizationId }: NewEvent) => organizationId;
  const publish = batch((events: NewEvent[]) => write(events, null), options, holderOf);
  const publishKeyed = batch((events: NewEvent[]) => write(events, KEY_WAIT_MS), options, holderOf);
  const publishApart = batch((events: NewEvent[]) => write(events, KEY_WAIT_APART_MS), alone);
  const holderOfAll = ([event]: NewEvent[]) => event?.organizationId ?? "";
  const batches = Array.from({ length: BATCHES_AT_ONCE }, () =>
    batch(writeTogether, { ...options, max: SHARED_MAX, enough: Infinity }, holderOfAll, weightOf),
  );
  const waitForKeys = batch(
    async ([events = []]: NewEvent[][]) => [await untilNoDeadlock(events)],
    alone,
    holderOfAll,
  );
  let turn = 0;

  return { publish, publishAll };

  async function publishAll(events: NewEvent[]): Promise<Published[]> {
    const [event, ...others] = events;
    if (event && others.length === 0 && event.dedupeKey === undefined)
      return [await publish(event)];
    try {
      if (event && others.length === 0) return [await publishOne(event)];
      turn = (turn + 1) % batches.length;
      return (await batches[turn]?.(events)) ?? [];
    } catch (error) {
      if (isInUse(error)) return waitForKeys(events);
      throw error;
    }
  }

  async function publishOne(event: NewEvent): Promise<Published> {
    try {
      return await publishKeyed(event);
    } catch (error) {
      if (isInUse(error)) return publishApart(event);
      throw error;
    }
  }

  async function writeTogether(all: NewEvent[][]): Promise<Published[][]> {
    const published = await write(all.flat(), KEY_WAIT_MS);
    let from = 0;
    return all.map(({ length }) => published.slice(from, (from += length)));
  }

  function write(events: NewEvent[], keyWaitMs: number | null): Promise<Published[]> {
    const db = parts.db.within(options.patienceMs);
    return noteWrite(publishAtOnce({ ...parts, db }, events, keyWaitMs));
  }

  /** A transaction of the platform may lock keys in another order than ours, which is a deadlock. */
  async function untilNoDeadlock(events: NewEvent[]): Promise<Published[]> {
    const withoutSlots = { ...parts, reserve: () => NO_SLOTS };
    for (let tries = 1; ; tries++) {
      try {
        const db = parts.db.within(options.patienceMs);
        return await noteWrite(publishAtOnce({ ...withoutSlots, db }, events));
      } catch (error) {
        if (!isDeadlock(error) || tries === TRIES_MAX) throw error;
      }
    }
  }
}

/** A batch with keys fills a statement, because it may have to wait. */
function weightOf(events: NewEvent[]): number {
  if (events.some(({ dedupeKey }) => dedupeKey !== undefined)) return SHARED_MAX;
  return events.reduce((weight, { data }) => weight + EVENT_WEIGHT + data.length, 0);
}

/** Makes a span of each call, if its request is traced. */
export function tracePublishing({ publish, publishAll }: Publishing): Publishing {
  return {
    publish: (event) => inPublishSpan([event], ([one = event]) => publish(one)),
    publishAll: (events) => inPublishSpan(events, publishAll),
  };
}

/**
 * Publishes in a span of the current trace. The events get its context, so that their attempts continue the trace. Without a
 * trace only publishes.
 */
export async function inPublishSpan<Event extends NewEvent, Result extends Published | Published[]>(
  events: Event[],
  publish: (events: Event[]) => Promise<Result>,
): Promise<Result> {
  const [parent] = currentSpans();
  const [event] = events;
  if (!parent || !event) return publish(events);

  const span = parent.child("publish", "producer", {
    "messaging.system": "partner_api",
    "messaging.operation.type": "send",
    "messaging.operation.name": "publish",
    "messaging.batch.message_count": events.length > 1 ? events.length : undefined,
    "messaging.destination.name": events.every(({ type }) => type === event.type)
      ? event.type
      : undefined,
    "partner_api.organization_id": publicId("org", event.organizationId),
  });
  const { traceparent } = span;
  try {
    const traced = events.map((one) => ({ ...one, traceparent }));
    const published = await inSpans([span], () => publish(traced));
    const [first] = [published].flat();
    if (first && events.length === 1)
      span.set({ "messaging.message.id": publicId("evt", first.eventId) });
    span.end();
    return published;
  } catch (error) {
    span.end(error instanceof Error ? error.name : "error");
    throw error;
  }
}
