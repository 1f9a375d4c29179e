import { noSuch, PartnerError } from "../../lib/errors.ts";
import { type EventId, type OrganizationId, publicId, type SubscriptionId } from "../../lib/ids.ts";
import type { Page, PageRequest } from "../../lib/page.ts";
import { inSnapshot, type Queryable } from "../../postgres/database.ts";
import { countCancelled, notePublished } from "../activity/counted.ts";
import { type CancelledCount, cancelWaitingOfEvent } from "../deliveries/cancellation-sql.ts";
import { listDeliveries } from "../deliveries/search-sql.ts";
import { viewDelivery } from "../deliveries/work.ts";
import type { Dependencies } from "../dependencies.ts";
import { readPage } from "../pages.ts";
import { SUBSCRIPTIONS_MAX } from "../subscriptions/rules.ts";
import { getSubscription, requireSecret } from "../subscriptions/work.ts";
import type { Published } from "./publication.ts";
import { inPublishSpan, publish } from "./publish.ts";
import { type NewEvent, TEST_EVENT, TEST_EVENT_DATA } from "./rules.ts";
import { erasePayload, findEvent, listTypeUses, type TypeUse } from "./sql.ts";

/** An event as operators and publishers see it. */
export type EventView = Omit<Awaited<ReturnType<typeof getEvent>>, "data"> & { data: object };

/** Returns an event of any organization, with its newest deliveries: as many as an organization can have subscriptions. */
export async function getEvent({ db }: Pick<Dependencies, "db">, id: EventId | null) {
  const found =
    id &&
    (await inSnapshot(db, async (tx) => {
      const event = await findEvent(tx, id);
      const page = { after: null, limit: SUBSCRIPTIONS_MAX };
      return event && { event, deliveries: await listDeliveries(tx, { eventId: id }, page) };
    }));
  if (!found) throw noSuch("event");
  const { event, deliveries } = found;
  return {
    id: publicId("evt", event.id),
    organization: event.organizationSlug,
    type: event.type,
    occurred_at: event.occurredAt.toISOString(),
    published_at: event.publishedAt.toISOString(),
    request_id: event.requestId,
    /** JSON. */
    data: event.data,
    deliveries: deliveries.map((row) => viewDelivery(row)),
  };
}

/** The use of an event type. */
export type EventTypeView = ReturnType<typeof viewEventType>;

/** Returns a page of event types, ordered by name. */
export async function pageOfEventTypes(
  { db, eventTypes }: Pick<Dependencies, "db" | "eventTypes">,
  request: PageRequest,
): Promise<Page<EventTypeView>> {
  const sorted = [...eventTypes].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return readPage(request, {
    name: "event-types",
    form: /^[a-z0-9_.]{1,100}$/,
    positionOf: (row: TypeUse & { summary: string }) => row.type,
    rows: async (after, limit) => {
      const shown = sorted.filter(({ name }) => after === null || name > after).slice(0, limit);
      const names = shown.map(({ name }) => name);
      const uses = new Map((await listTypeUses(db, names)).map((use) => [use.type, use]));
      return shown.map(({ name: type, summary }) => ({
        ...{ type, summary, subscriptions: 0, lastPublishedAt: null },
        ...uses.get(type),
      }));
    },
    view: viewEventType,
  });
}

function viewEventType({ lastPublishedAt, ...use }: TypeUse & { summary: string }) {
  return { ...use, last_published_at: lastPublishedAt?.toISOString() ?? null };
}

/**
 * Erases the payload of an event for good, and cancels its waiting deliveries. A running attempt is not stopped. A
 * redelivery of the event sends an empty object.
 */
export async function eraseEventPayload(
  { db, clock, activity }: Pick<Dependencies, "db" | "clock" | "activity">,
  id: EventId | null,
): Promise<void> {
  if (id === null) throw noSuch("event");
  const counts = await db.begin(async (tx) => {
    if (!(await erasePayload(tx, id))) throw noSuch("event");
    const all: CancelledCount[] = [];
    for (let isSomeLeft = true; isSomeLeft;) {
      const cancelled = await cancelWaitingOfEvent(tx, id, clock());
      all.push(...cancelled.counts);
      isSomeLeft = cancelled.isSomeLeft;
    }
    return all;
  });
  countCancelled(activity, counts);
}

/** A test call: a subscription, and a secret as proof of possession. */
interface TestCall {
  id: SubscriptionId | null;
  secret: string;
  requestId?: string;
}

/** Writes in the transaction that publishes an event. */
type Keep = (tx: Queryable, subscriptionId: SubscriptionId, eventId: EventId) => Promise<void>;

/** Publishes a test event to one subscription and returns the event's id once the event is durable. */
export async function sendTestEvent(
  deps: Dependencies,
  organizationId: OrganizationId,
  call: TestCall,
  keep?: Keep,
): Promise<EventId> {
  const subscriptionId = await requireProof(deps, organizationId, call);
  const { requestId } = call;
  const event = {
    ...{ organizationId, subscriptionId, type: TEST_EVENT, data: TEST_EVENT_DATA },
    ...(requestId === undefined ? {} : { requestId }),
  };

  const { eventId, subscriptionIds } = keep
    ? await inPublishSpan([event], ([one = event]) => publishAndKeep(deps, one, keep))
    : await deps.batched.publish(event);
  if (subscriptionIds.length === 0) {
    await getSubscription(deps, organizationId, call.id); // Throws if the subscription was deleted meanwhile.
    throw inactive();
  }
  return eventId;
}

async function publishAndKeep(
  deps: Dependencies,
  event: NewEvent & { subscriptionId: SubscriptionId },
  keep: Keep,
): Promise<Published> {
  const { noteWrite = <Result>(write: Promise<Result>) => write } = deps;
  const writing = deps.db.of(event.organizationId).begin(async (tx) => {
    const [one] = await publish(deps, tx, [event]);
    if (!one) throw new Error("publishing one event returned nothing");
    if (one.subscriptionIds.length > 0) await keep(tx, event.subscriptionId, one.eventId);
    return one;
  });
  const published = await noteWrite(writing);
  notePublished(deps, [event], [published]);
  return published;
}

/** Returns the subscription's id if the secret is right. A known proof needs no look-up. */
async function requireProof(
  deps: Dependencies,
  organizationId: OrganizationId,
  { id, secret }: TestCall,
): Promise<SubscriptionId> {
  if (id && deps.proofs.holds({ organizationId, subscriptionId: id, secret })) return id;

  const subscription = await getSubscription(deps, organizationId, id);
  if (subscription.autoDisabledAt !== null) throw inactive();
  requireSecret(deps, subscription, secret);
  deps.proofs.add({ organizationId, subscriptionId: subscription.id, secret });
  return subscription.id;
}

function inactive(): PartnerError {
  return new PartnerError(
    "subscription_inactive",
    "The subscription was disabled after too many failures: delete it and create a new one.",
  );
}
