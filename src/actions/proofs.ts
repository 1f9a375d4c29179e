import { hashesMatch, hashSecret } from "../domain/api-key.ts";

const KEPT_MAX = 10_000;

/**
 * Which proofs of possession have held before. Neither the organization of a subscription nor its secret ever
 * changes, so such a proof holds for good; whether the subscription is still there and active is not known here.
 * Secrets are kept as hashes.
 */
export class Proofs {
  readonly #held = new Map<string, Buffer>();

  add(proof: Proof): void {
    if (this.#held.size >= KEPT_MAX) this.#held.clear();
    this.#held.set(proof.subscriptionId, hashOf(proof));
  }

  has(proof: Proof): boolean {
    const held = this.#held.get(proof.subscriptionId);
    return held !== undefined && hashesMatch(hashOf(proof), held);
  }
}

export interface Proof {
  organizationId: string;
  subscriptionId: string;
  secret: string;
}

function hashOf({ organizationId, secret }: Proof): Buffer {
  return hashSecret(`${organizationId} ${secret}`);
}
