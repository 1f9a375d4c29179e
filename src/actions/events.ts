import { PartnerError } from "../domain/errors.ts";
import { type EventType, TEST_EVENT, TEST_EVENT_DATA } from "../domain/event.ts";
import { timeOrderedId } from "../domain/ids.ts";
import type { Queryable } from "../postgres/database.ts";
import { insertEvent } from "../postgres/events.ts";
import { listSubscribers } from "../postgres/subscriptions.ts";
import { insertDeliveries } from "../postgres/waiting-deliveries.ts";
import type { Dependencies } from "./dependencies.ts";
import { getSubscription, requireSecret } from "./subscriptions.ts";

/**
 * Puts an event on its way to each active subscription of the organization that lists its type.
 *
 * Writes in the caller's transaction `tx`, so the event exists exactly if what it tells of does: nothing is sent
 * before that commits, and nothing at all if it does not. Call `nudge` with `subscriptionIds` after the commit for
 * delivery within milliseconds; without it a poll finds them. For resource families to come: test events, the only ones
 * yet, take `sendTestEvent`.
 */
export async function publishEvent(
  { clock }: Pick<Dependencies, "clock">,
  tx: Queryable,
  event: { organizationId: string; type: EventType; data: Record<string, unknown> },
): Promise<{ eventId: string; subscriptionIds: string[] }> {
  const now = clock();
  const eventId = timeOrderedId(now);
  await insertEvent(tx, {
    id: eventId,
    organization_id: event.organizationId,
    type: event.type,
    occurred_at: now,
    data: JSON.stringify(event.data),
  });

  const subscriptionIds = await listSubscribers(tx, event.organizationId, event.type);
  await insertDeliveries(
    tx,
    subscriptionIds.map((subscription_id) => ({
      id: timeOrderedId(now),
      event_id: eventId,
      subscription_id,
      organization_id: event.organizationId,
      created_at: now,
      due_at: now,
    })),
  );
  return { eventId, subscriptionIds };
}

/** Puts a test event on its way to one subscription, and answers its id once it is durable. */
export async function sendTestEvent(
  deps: Dependencies,
  organizationId: string,
  { id, secret }: { id: string | null; secret: string },
): Promise<string> {
  const proven = await requireProof(deps, organizationId, { id, secret });

  const now = deps.clock();
  const eventId = timeOrderedId(now);
  const accepted = await deps.gathered.accept({
    id: eventId,
    delivery_id: timeOrderedId(now),
    subscription_id: proven.id,
    url: proven.url,
    type: TEST_EVENT,
    occurred_at: now,
    data: TEST_EVENT_DATA,
  });
  if (!accepted) {
    await getSubscription(deps, organizationId, id); // Absent if it was deleted meanwhile.
    throw inactive();
  }
  return eventId;
}

/** The subscription, once the caller has shown its secret. One that did so before needs no look-up. */
async function requireProof(
  deps: Dependencies,
  organizationId: string,
  { id, secret }: { id: string | null; secret: string },
): Promise<{ id: string; url: string }> {
  const url = id && deps.proofs.urlFor({ organizationId, subscriptionId: id, secret });
  if (id && url) return { id, url };

  const subscription = await getSubscription(deps, organizationId, id);
  if (subscription.auto_disabled_at !== null) throw inactive();
  requireSecret(deps, subscription, secret);
  const proof = { organizationId, subscriptionId: subscription.id, secret };
  deps.proofs.add(proof, subscription.url);
  return subscription;
}

function inactive(): PartnerError {
  return new PartnerError(
    "subscription_inactive",
    "The subscription was disabled after too many failures: delete it and create a new one.",
  );
}
