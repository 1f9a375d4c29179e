import { type CancelledRow, cancelWaiting } from "../postgres/cancellation.ts";
import type { Clock } from "../domain/clock.ts";
import type { SubscriptionId } from "../domain/ids.ts";
import type { Database } from "../postgres/database.ts";
import { gather } from "./gather.ts";

export interface Cancelling {
  /**
   * Cancels what is queued for a subscription that is not active any more, beside everything else. One after the other,
   * so that no number of them takes all connections; what is left where it breaks off, claims find when it is due.
   */
  cancelRest: (subscriptionId: SubscriptionId) => void;
  /** Resolves once nothing of that is under way. Throws when it breaks off. */
  restCancelled: () => Promise<void>;
  /** Begins no further statement. Resolves once the one under way is over, and never throws. */
  stopCancelling: () => Promise<void>;
}

export interface CancellingOptions {
  /** Subscriptions whose queues one statement cancels. */
  max?: number;
  /** Called when a queue could not be cancelled. No caller waits for that. */
  onCancelFailed?: ((error: unknown) => void) | undefined;
  onCancelled?: ((rows: CancelledRow[]) => void) | undefined;
}

const SUBSCRIPTIONS_MAX = 200;

export function createCancelling(
  { db, clock }: { db: Database; clock: Clock },
  { max = SUBSCRIPTIONS_MAX, onCancelFailed, onCancelled }: CancellingOptions = {},
): Cancelling {
  const underWay = new Map<string, Promise<void>>();
  let isStopping = false;
  const cancelAll = gather(
    async (ids: string[]) => {
      try {
        for (let isSomeLeft = true; isSomeLeft && !isStopping;) {
          const cancelled = await cancelWaiting(db, ids, clock());
          onCancelled?.(cancelled.rows);
          isSomeLeft = cancelled.isSomeLeft;
        }
      } catch (error) {
        onCancelFailed?.(error);
        throw error;
      }
      return ids.map(() => undefined);
    },
    { max },
  );
  return {
    cancelRest: (id) => {
      if (underWay.has(id)) return;
      const done = cancelAll(id).finally(() => underWay.delete(id));
      done.catch(() => undefined); // `onCancelFailed` was called, and `restCancelled` throws.
      underWay.set(id, done);
    },
    restCancelled: async () => {
      await Promise.all(underWay.values());
    },
    stopCancelling: async () => {
      isStopping = true;
      await Promise.allSettled(underWay.values());
    },
  };
}
