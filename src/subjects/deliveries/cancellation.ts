import { batch } from "../../lib/batch.ts";
import type { Clock } from "../../lib/clock.ts";
import { Crowded } from "../../lib/errors.ts";
import type { SubscriptionId } from "../../lib/ids.ts";
import type { Database } from "../../postgres/database.ts";
import { type CancelledCount, cancelWaiting } from "./cancellation-sql.ts";

export interface Cancelling {
  /**
   * Cancels the queue of a subscription that is no longer active, in the background. Only one statement runs at a time, so that
   * many calls do not use up the connection pool. If it fails, claims cancel the rest when it is due.
   */
  cancelRest: (subscriptionId: SubscriptionId) => void;
  /** Resolves when no cancellation runs. Rejects if one fails. */
  restCancelled: () => Promise<void>;
  /** Starts no further statement. Resolves when the current one has ended, and never rejects. */
  stopCancelling: () => Promise<void>;
}

interface CancellingOptions {
  /** The maximum number of subscriptions in one statement. */
  max?: number;
  /** Called when a queue could not be cancelled, because no caller waits for the result. */
  onCancelFailed?: ((error: unknown) => void) | undefined;
  onCancelled?: ((counts: CancelledCount[]) => void) | undefined;
}

const SUBSCRIPTIONS_MAX = 200;

export function createCancelling(
  { db, clock }: { db: Database; clock: Clock },
  { max = SUBSCRIPTIONS_MAX, onCancelFailed, onCancelled }: CancellingOptions = {},
): Cancelling {
  const inFlight = new Map<SubscriptionId, Promise<void>>();
  let isStopping = false;
  const cancelAll = batch(
    async (ids: SubscriptionId[]) => {
      try {
        for (let isSomeLeft = true; isSomeLeft && !isStopping;) {
          const cancelled = await cancelWaiting(db, ids, clock());
          onCancelled?.(cancelled.counts);
          isSomeLeft = cancelled.isSomeLeft;
        }
      } catch (error) {
        onCancelFailed?.(error);
        throw error;
      }
      return ids.map(() => undefined);
    },
    { max, refuse: () => new Crowded() },
  );
  return {
    cancelRest: (id) => {
      if (inFlight.has(id)) return;
      const done = cancelAll(id).finally(() => inFlight.delete(id));
      done.catch(() => undefined); // The error went to `onCancelFailed`, and `restCancelled` rejects with it.
      inFlight.set(id, done);
    },
    restCancelled: async () => {
      await Promise.all(inFlight.values());
    },
    stopCancelling: async () => {
      isStopping = true;
      await Promise.allSettled(inFlight.values());
    },
  };
}
