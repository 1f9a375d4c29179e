import { batch, type BatchOptions } from "../../lib/batch.ts";
import { after, type Clock } from "../../lib/clock.ts";
import { type Fault, requireNoFaults } from "../../lib/errors.ts";
import {
  numberedId,
  type OrganizationId,
  publicId,
  randomId,
  type SubscriptionId,
} from "../../lib/ids.ts";
import { groupBy, inSteps, isObject } from "../../lib/objects.ts";
import { currentSpans, inSpans } from "../../lib/tracing.ts";
import { isDeadlock, isInUse, type Queryable } from "../../postgres/database.ts";
import type { DueSubscription } from "../../queue/rules.ts";
import { toClaim } from "../deliveries/claims.ts";
import type { Claim } from "../deliveries/rules.ts";
import type { Dependencies, Parts } from "../dependencies.ts";
import { organizationName } from "../organizations/rules.ts";
import type { KeyRing } from "../secrets/rules.ts";
import { faultsOfJson } from "./json-document.ts";
import { NO_SLOTS, type Published } from "./publication.ts";
import {
  batchFaults,
  DATA_BYTES_MAX,
  DATA_BYTES_RULE,
  DATA_DEPTH_MAX,
  DEDUPE_MS,
  type Doubt,
  type EventRequest,
  eventsIn,
  type Judging,
  type NewEvent,
  organizationOf,
  readEvent,
  within,
} from "./rules.ts";
import {
  type Duplicate,
  type IdentifiedEvent,
  insertEvents,
  type KeyTaking,
  type WrittenDelivery,
} from "./sql.ts";

/** The most faults in one answer. */
export const EVENT_FAULTS_MAX = 1_000;

/** How much is read in one step, in characters of data: about a millisecond. An event counts for some in itself. */
const STEP_WEIGHT = 32_768;
const EVENT_WEIGHT = 256;

/** The result for one event. */
export type PublishedView = ReturnType<typeof viewPublished>;

/** The dependencies of publishing. */
interface PublishingParts extends Pick<Dependencies, "clock" | "eventTypes" | "retentionMs"> {
  batched: Pick<Dependencies["batched"], "findOrganization" | "publishAll">;
}

/**
 * Publishes the event or the batch of events in `body`: all of them, or none if there is any fault. Resolves when they are
 * durable. `documentFaults` are the faults of the body as JSON text.
 */
export async function publishEvents(
  deps: PublishingParts,
  body: unknown,
  { documentFaults, ...origin }: { documentFaults?: readonly Fault[]; requestId?: string } = {},
): Promise<PublishedView | { items: PublishedView[] }> {
  const { isBatch, events, organizations } = await readEvents(deps, body, documentFaults);
  const published = await deps.batched.publishAll(
    // Not copied: that took longer than to read them.
    events.map((event) => {
      const organizationId = organizations.get(event.organization) ?? "";
      return Object.assign(event, { organizationId }, origin);
    }),
  );
  const items = published.map(viewPublished);
  const [only] = items;
  return isBatch || !only ? { items } : only;
}

/** Returns the events of `body`, and the ids of their organizations by name. Throws one error that names every fault. */
export async function readEvents(
  deps: PublishingParts,
  body: unknown,
  documentFaults: readonly Fault[] = [],
): Promise<{
  isBatch: boolean;
  events: EventRequest[];
  organizations: Map<string, OrganizationId>;
}> {
  const { isBatch, events } = eventsIn(body);
  const faults = [...documentFaults, ...(isBatch ? batchFaults(body) : [])];
  if (isBatch && faults.length > documentFaults.length) requireNone(faults);

  const doubts: Doubt[] = [];
  const judging = {
    ...{ types: deps.eventTypes, retentionMs: deps.retentionMs },
    ...{ now: deps.clock(), documentFaults, doubts },
  };
  const read = await inSteps(readEach(events, judging, faults));
  await settle(doubts, faults);
  const organizations = await findOrganizations(deps, events, faults);
  requireNone(faults);
  return { isBatch, events: read, organizations };
}

/** Adds the faults of the events to `faults`. Returns the events without any. Yields after each step. */
function* readEach(
  events: Map<string, unknown>,
  judging: Judging,
  faults: Fault[],
): Generator<undefined, EventRequest[]> {
  const read: EventRequest[] = [];
  let sinceYield = 0;
  for (const [pointer, given] of events) {
    const event = readEvent(given, pointer, judging, faults);
    if (event) read.push(event);
    if (faults.length >= EVENT_FAULTS_MAX) break;

    sinceYield += EVENT_WEIGHT + (event?.data.length ?? 0);
    if (sinceYield < STEP_WEIGHT) continue;
    sinceYield = 0;
    yield;
  }
  return read;
}

async function settle(doubts: readonly Doubt[], faults: Fault[]): Promise<void> {
  for (const doubt of doubts) {
    if (faults.length >= EVENT_FAULTS_MAX) return;
    for (const fault of await doubt.faults()) faults.push(within(doubt.pointer, fault));
  }
}

/** Returns the ids by name. Adds a fault for each event whose organization does not exist. */
async function findOrganizations(
  { batched }: PublishingParts,
  events: Map<string, unknown>,
  faults: Fault[],
): Promise<Map<string, OrganizationId>> {
  const named = new Set(Array.from(events.values(), organizationOf));
  const names = [...named].filter((name) => name !== null);
  const rows = await Promise.all(
    names.map((name) => batched.findOrganization(organizationName(name))),
  );
  const ids = new Map(names.flatMap((name, i) => (rows[i] ? [[name, rows[i].id] as const] : [])));
  if (ids.size === names.length) return ids;
  for (const [pointer, given] of events) {
    const organization = organizationOf(given);
    if (organization === null || ids.has(organization)) continue;
    const detail = "must be the id or the slug of an organization";
    faults.push({ pointer: `${pointer}/organization`, detail });
  }
  return ids;
}

/** Throws one error that names the faults, in the order of the request. */
export function requireNone(faults: Fault[]): void {
  const sorted = faults.toSorted((a, b) =>
    a.pointer.localeCompare(b.pointer, "en", { numeric: true }),
  );
  requireNoFaults(sorted.slice(0, EVENT_FAULTS_MAX));
}

function viewPublished({ eventId, isDuplicate, subscriptionIds }: Published) {
  return {
    event_id: publicId("evt", eventId),
    deliveries: subscriptionIds.length,
    duplicate: isDuplicate,
  };
}

/** For a command that works on the database and sends no notice. Dispatchers find its events when they poll. */
export const NO_DISPATCHER: Pick<Parts, "nudge" | "reserve"> = {
  nudge: () => undefined,
  reserve: () => NO_SLOTS,
};

/**
 * Publishes events in the caller's transaction `tx`, with a delivery for each recipient. They exist if and only if the
 * transaction commits.
 *
 * Call `notePublished` after the commit, so that the attempts start within milliseconds. Otherwise a poll finds the
 * deliveries. An event for one subscription that is not active is not written, and has no `subscriptionIds`. A dedupe key
 * is locked until the transaction ends, and other publishers wait for it.
 */
export async function publish(
  { clock }: { clock: Clock },
  tx: Queryable,
  events: NewEvent[],
): Promise<Published[]> {
  const sound: NewEvent[] = [];
  for (const event of events) sound.push({ ...event, data: await soundData(event) });
  const now = clock();
  const identified = identify(sound, now);
  const written = await insertEvents(tx, identified, { now, leases: null, keys: keysAt(now) });
  return publishedOf(identified, written);
}

/** Returns the data as HTTP would store it. Throws for data that HTTP would refuse, whatever its type. */
async function soundData({ type, data: text }: NewEvent): Promise<string> {
  const data: unknown = JSON.parse(text);
  const stored = JSON.stringify(data);
  const limits = { depthMax: DATA_DEPTH_MAX, faultsMax: 1 };
  const faults = await inSteps(faultsOfJson(text, limits));
  if (!isObject(data)) faults.push({ pointer: "", detail: "must be an object" });
  if (Buffer.byteLength(stored) > DATA_BYTES_MAX)
    faults.push({ pointer: "", detail: DATA_BYTES_RULE });
  const [fault] = faults;
  if (fault) throw new TypeError(`data${fault.pointer} of ${type} ${fault.detail}`);
  return stored;
}

/**
 * Publishes events in a transaction of their own. If a slot is free, a delivery is written with its lease, so that its attempt
 * starts as soon as the event is durable. The others wait for a claim.
 *
 * Waits at most `keyWaitMs` for publishers that hold a dedupe key and have not committed: see `isInUse`. Slots stay reserved
 * meanwhile.
 */
export async function publishAtOnce(
  { db, clock, ring, rules, nudge, reserve }: Parts,
  events: NewEvent[],
  keyWaitMs: number | null = null,
): Promise<Published[]> {
  const reservation = reserve(new Set(events.map((event) => event.organizationId)));
  const claims: Claim[] = [];
  try {
    const now = clock();
    const lease = { leaseId: randomId(), leasedUntil: after(now, rules.leaseMs) };
    const identified = identify(events, now);
    const { slots, except } = reservation;
    const written = await insertEvents(db, identified, {
      now,
      leases: { slots, except, ...lease },
      keys: keysAt(now, keyWaitMs),
    });

    const byId = new Map(identified.map((one) => [one.id, one]));
    const waiting: DueSubscription[] = [];
    for (const delivery of written) {
      if (delivery.id === null) continue;
      const one = byId.get(delivery.eventId);
      const claim = one && claimOf(ring, one, delivery, lease);
      if (claim) claims.push(claim);
      else if (one)
        waiting.push({
          subscriptionId: delivery.subscriptionId,
          organizationId: one.event.organizationId,
        });
    }
    if (waiting.length > 0) nudge(waiting);
    return publishedOf(identified, written);
  } finally {
    reservation.end(claims);
  }
}

function identify(events: NewEvent[], now: Date): IdentifiedEvent[] {
  return events.map((event) => ({
    id: numberedId(now),
    occurredAt: event.occurredAt ?? now,
    event, // Not copied: that took longer than everything else here.
  }));
}

function keysAt(now: Date, waitMs: number | null = null): KeyTaking {
  return { expired: after(now, -DEDUPE_MS), waitMs };
}

function publishedOf(
  events: IdentifiedEvent[],
  written: (WrittenDelivery | Duplicate)[],
): Published[] {
  const byEvent = groupBy(written, ({ eventId }) => eventId);
  return events.map(({ id }) => {
    const subscriptionIds: SubscriptionId[] = [];
    for (const one of byEvent.get(id) ?? []) {
      if (one.id === null) return { eventId: one.firstId, isDuplicate: true, subscriptionIds };
      subscriptionIds.push(one.subscriptionId);
    }
    return { eventId: id, isDuplicate: false, subscriptionIds };
  });
}

/** Returns null unless the delivery was written with a lease. */
function claimOf(
  ring: KeyRing,
  { id: eventId, occurredAt, event }: IdentifiedEvent,
  { id, subscriptionId, subscriptionNumber, url, sealedSecret }: WrittenDelivery,
  lease: Pick<Claim, "leaseId" | "leasedUntil">,
): Claim | null {
  if (url === null || subscriptionNumber === null) return null;
  const delivery = {
    id,
    attempts: 0,
    lostLeases: 0,
    eventId,
    type: event.type,
    occurredAt,
    data: event.data,
    traceparent: event.traceparent ?? null,
    subscriptionId,
    subscriptionNumber,
    organizationId: event.organizationId,
    sealedSecret,
    url,
  };
  return toClaim(ring, delivery, lease);
}

/** How long slots stay reserved for an event whose dedupe key another publisher holds and has not committed. */
const KEY_WAIT_MS = 100;
/** The same for an event that has already waited so long, together with others. */
const KEY_WAIT_APART_MS = 10;
/** The most statements of batches in the database at a time. Each uses one connection. */
const BATCHES_AT_ONCE = 2;
/** How much batches that share a statement may weigh together, in characters of data. An event counts for some in itself. */
const SHARED_MAX = 524_288;
const WAITING_WEIGHT = 1_024;
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
  let next = 0;

  return { publish, publishAll };

  async function publishAll(events: NewEvent[]): Promise<Published[]> {
    const [event, ...others] = events;
    if (event && others.length === 0 && event.dedupeKey === undefined)
      return [await publish(event)];
    try {
      if (event && others.length === 0) return [await publishOne(event)];
      next = (next + 1) % batches.length;
      return (await batches[next]?.(events)) ?? [];
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
  return events.reduce((weight, { data }) => weight + WAITING_WEIGHT + data.length, 0);
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
