import { cancelWaiting } from "../postgres/waiting-deliveries.ts";
import type { Parts } from "./dependencies.ts";

/**
 * Cancels what one statement left of the queues of subscriptions that are not active any more. What is left when it
 * breaks off, claims cancel when it is due.
 */
export async function cancelRest(
  { db, clock }: Pick<Parts, "db" | "clock">,
  subscriptionIds: string[],
): Promise<void> {
  try {
    while (await cancelWaiting(db, subscriptionIds, clock()));
  } catch {
    // The database is away, or we are stopping.
  }
}
