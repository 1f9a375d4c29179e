import { burstOf, ceilingFaults } from "../domain/ceiling.ts";
import { requireNoFaults, noSuch } from "../domain/errors.ts";
import type { SubscriptionId } from "../domain/ids.ts";
import { deleteCeiling, insertCeiling } from "../postgres/ceilings.ts";
import {
  findOperatedSubscription,
  type OperatedSubscription,
} from "../postgres/subscription-list.ts";
import type { Dependencies } from "./dependencies.ts";

/** Limits a subscription's attempts a second, over all processes, from the next claim on. Null: no limit. */
export async function setCeiling(
  { db, clock }: Pick<Dependencies, "db" | "clock">,
  id: SubscriptionId | null,
  maxPerSecond: number | null,
): Promise<OperatedSubscription> {
  requireNoFaults(ceilingFaults(maxPerSecond));
  const changed =
    id === null
      ? null
      : await db.begin(async (tx) => {
          if (maxPerSecond === null) await deleteCeiling(tx, id);
          else {
            await insertCeiling(tx, id, { maxPerSecond, burst: burstOf(maxPerSecond) }, clock());
          }
          return findOperatedSubscription(tx, id);
        });
  if (!changed) throw noSuch("resource");
  return changed;
}
