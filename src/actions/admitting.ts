import type { OrganizationId } from "../domain/ids.ts";
import { batch, type BatchOptions } from "../lib/batch.ts";
import { BoundedCache } from "../lib/bounded-cache.ts";
import type { Presented } from "../postgres/admission.ts";
import { admitAll } from "./admission.ts";
import type { Admitted, Parts } from "./dependencies.ts";

/** Keys whose organization is remembered. */
const OWNERS_MAX = 10_000;
/** All tokens that were not admitted before take turns as one organization. */
const UNKNOWN = "";

/**
 * Admits requests in batches, in which organizations take turns. A token's organization is remembered from its last
 * admission. So neither many keys nor guessed ones get more turns. What is remembered decides only on the turn.
 */
export function createAdmitting(
  { db, clock }: Pick<Parts, "db" | "clock">,
  options: BatchOptions & { patienceMs: number },
): (presented: Presented) => Promise<Admitted | null> {
  const owners = new BoundedCache<string, OrganizationId>(OWNERS_MAX);

  async function admit(presented: Presented[]): Promise<(Admitted | null)[]> {
    const results = await admitAll({ db: db.within(options.patienceMs), clock }, presented);
    presented.forEach(({ secretHash }, i) => {
      const owner = results[i]?.key.organizationId;
      if (owner && owners.get(secretHash) === undefined) owners.set(secretHash, owner);
    });
    return results;
  }
  return batch(admit, options, ({ secretHash }) => owners.get(secretHash) ?? UNKNOWN);
}
