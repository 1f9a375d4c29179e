import { cancelWaiting } from "../postgres/waiting-deliveries.ts";
import type { Parts } from "./dependencies.ts";

/** Cancels what one statement left of the queues of subscriptions that are not active any more. */
export async function cancelRest(
  { db, clock }: Pick<Parts, "db" | "clock">,
  subscriptionIds: string[],
): Promise<void> {
  while (await cancelWaiting(db, subscriptionIds, clock()));
}
