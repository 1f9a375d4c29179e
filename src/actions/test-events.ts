import { PartnerError } from "../domain/errors.ts";
import { TEST_EVENT, TEST_EVENT_DATA } from "../domain/event.ts";
import type { EventId, OrganizationId, SubscriptionId } from "../domain/ids.ts";
import type { Queryable } from "../postgres/database.ts";
import { notePublished } from "./counted-activity.ts";
import type { Dependencies } from "./dependencies.ts";
import type { NewEvent } from "../domain/event.ts";
import type { Published } from "./publication.ts";
import { publish } from "./publish.ts";
import { inPublishSpan } from "./publishing.ts";
import { getSubscription, requireSecret } from "./subscriptions.ts";

/** A test call: a subscription, and a secret as proof of possession. */
export interface TestCall {
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
