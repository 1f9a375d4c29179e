import { type Fault, requireNoFaults } from "../domain/errors.ts";
import {
  batchFaults,
  type Doubt,
  eventsIn,
  type EventRequest,
  type Judging,
  organizationOf,
  readEvent,
  within,
} from "../domain/event-request.ts";
import { type OrganizationId, publicId } from "../domain/ids.ts";
import { inSteps } from "../lib/in-steps.ts";
import type { Dependencies } from "./dependencies.ts";
import { organizationName } from "../domain/organization.ts";
import type { Published } from "./publication.ts";

/** The most faults in one answer. */
export const EVENT_FAULTS_MAX = 1_000;

/** How much is read in one step, in characters of data: about a millisecond. An event counts for some in itself. */
const STEP_WEIGHT = 32_768;
const EVENT_WEIGHT = 256;

/** The result for one event. */
export type PublishedView = ReturnType<typeof viewPublished>;

/** The dependencies of publishing. */
export interface PublishingParts extends Pick<
  Dependencies,
  "clock" | "eventTypes" | "retentionMs"
> {
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
