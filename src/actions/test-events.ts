import { PartnerError } from "../domain/errors.ts";
import { TEST_EVENT, TEST_EVENT_DATA } from "../domain/event.ts";
import type { OrganizationId, SubscriptionId } from "../domain/ids.ts";
import type { Dependencies } from "./dependencies.ts";
import { getSubscription, requireSecret } from "./subscriptions.ts";

/** Publishes a test event to one subscription and returns the event's id once the event is durable. */
export async function sendTestEvent(
  deps: Dependencies,
  organizationId: OrganizationId,
  { id, secret }: { id: SubscriptionId | null; secret: string },
): Promise<string> {
  const subscriptionId = await requireProof(deps, organizationId, { id, secret });

  const { eventId, subscriptionIds } = await deps.gathered.publish({
    organizationId,
    subscriptionId,
    type: TEST_EVENT,
    data: TEST_EVENT_DATA,
  });
  if (subscriptionIds.length === 0) {
    await getSubscription(deps, organizationId, id); // Absent if it was deleted meanwhile.
    throw inactive();
  }
  return eventId;
}

/** Returns the subscription's id if the secret is right. A secret that was right before needs no look-up. */
async function requireProof(
  deps: Dependencies,
  organizationId: OrganizationId,
  { id, secret }: { id: SubscriptionId | null; secret: string },
): Promise<string> {
  if (id && deps.proofs.holds({ organizationId, subscriptionId: id, secret })) return id;

  const subscription = await getSubscription(deps, organizationId, id);
  if (subscription.auto_disabled_at !== null) throw inactive();
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
