import { noSuch } from "../domain/errors.ts";
import { type EventId, publicId } from "../domain/ids.ts";
import type { Page, PageRequest } from "../domain/page.ts";
import { SUBSCRIPTIONS_MAX } from "../domain/subscription.ts";
import { inSnapshot } from "../postgres/database.ts";
import { listDeliveries } from "../postgres/delivery-search.ts";
import { type CancelledCount, cancelWaitingOfEvent } from "../postgres/cancellation.ts";
import { erasePayload } from "../postgres/events.ts";
import { findEvent, listTypeUses, type TypeUse } from "../postgres/event-views.ts";
import { countCancelled } from "./counted-activity.ts";
import type { Dependencies } from "./dependencies.ts";
import { readPage } from "./pages.ts";
import { viewDelivery } from "./views/delivery.ts";

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
