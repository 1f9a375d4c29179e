import { BoundedCache } from "../../lib/bounded-cache.ts";
import type { OrganizationId, SubscriptionId } from "../../lib/ids.ts";
import { hashesMatch, hashSecret } from "./rules.ts";

const KEPT_MAX = 10_000;

/**
 * A cache of correct proofs of possession. A subscription never changes its organization or its secret, so a proof stays
 * correct. It does not tell if the subscription still exists and is active. Secrets are kept as hashes.
 */
export class Proofs {
  readonly #hashes = new BoundedCache<SubscriptionId, string>(KEPT_MAX);

  add(proof: Proof): void {
    this.#hashes.set(proof.subscriptionId, hashOf(proof));
  }

  holds(proof: Proof): boolean {
    const hash = this.#hashes.get(proof.subscriptionId);
    return hash !== undefined && hashesMatch(hashOf(proof), hash);
  }
}

interface Proof {
  organizationId: OrganizationId;
  subscriptionId: SubscriptionId;
  secret: string;
}

function hashOf({ organizationId, secret }: Proof): string {
  return hashSecret(`${organizationId} ${secret}`);
}
