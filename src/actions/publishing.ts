import { batch, type BatchOptions } from "../lib/batch.ts";
import { isDeadlock, isInUse } from "../postgres/database.ts";
import type { Parts } from "./dependencies.ts";
import { publishAtOnce } from "./publish.ts";
import { NO_SLOTS } from "./reservation.ts";
import type { NewEvent, Published } from "./new-event.ts";

/** How long slots stay reserved for an event whose dedupe key another publisher holds and has not committed. */
const KEY_WAIT_MS = 100;
/** The same for an event that has already waited so long, together with others. */
const KEY_WAIT_APART_MS = 10;
/** The most batches in the database at a time. Each uses one connection. */
const BATCHES_AT_ONCE = 2;
/** The most runs of a batch that ends in deadlocks. */
const TRIES_MAX = 3;

export interface Publishing {
  publish: (event: NewEvent) => Promise<Published>;
  publishAll: (events: NewEvent[]) => Promise<Published[]>;
}

/**
 * The ways to the one statement that publishes. Single events share it. Events with a dedupe key and batches go separately,
 * because they may have to wait for open transactions of other publishers. After a long wait the events of a statement go on
 * one by one, because only some of their keys are held. What still has to wait does so in a queue of its own, with no slot
 * reserved.
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
  const batches = Array.from({ length: BATCHES_AT_ONCE }, () =>
    batch(async ([events = []]: NewEvent[][]) => [await write(events, KEY_WAIT_MS)], alone),
  );
  const waitForKeys = batch(
    async ([events = []]: NewEvent[][]) => [await untilNoDeadlock(events)],
    alone,
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
