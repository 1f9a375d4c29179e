import { cancelWaiting } from "../postgres/waiting-deliveries.ts";
import type { Parts } from "./dependencies.ts";
import { gather } from "./gather.ts";
import type { SubscriptionId } from "../domain/ids.ts";

export interface Cancelling {
  /**
   * Cancels what is queued for a subscription that is not active any more, beside everything else. One after the other,
   * so that no number of them takes all connections; what is left where it breaks off, claims find when it is due.
   */
  cancelRest: (subscriptionId: SubscriptionId) => void;
  /** Resolves once nothing of that is under way: whoever closes the database waits for it. Throws when it breaks off. */
  restCancelled: () => Promise<void>;
}

export function createCancelling(
  { db, clock }: Pick<Parts, "db" | "clock">,
  { max }: { max: number },
): Cancelling {
  const underWay = new Map<string, Promise<void>>();
  const cancelAll = gather(
    async (ids: string[]) => {
      while (await cancelWaiting(db, ids, clock()));
      return ids.map(() => undefined);
    },
    { max },
  );
  return {
    cancelRest: (id) => {
      if (underWay.has(id)) return;
      const done = cancelAll(id).finally(() => underWay.delete(id));
      done.catch(() => undefined); // Whoever waits for it hears of it.
      underWay.set(id, done);
    },
    restCancelled: async () => {
      await Promise.all(underWay.values());
    },
  };
}
