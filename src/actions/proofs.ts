import { hashesMatch, hashSecret } from "../domain/api-key.ts";

const KEPT_MAX = 10_000;

/**
 * Which proofs of possession have held before. Neither the organization of a subscription nor its secret or URL ever
 * changes, so such a proof holds for good; whether the subscription is still there and active is not known here.
 * Secrets are kept as hashes.
 */
export class Proofs {
  readonly #held = new Map<string, { hash: string; url: string }>();

  add(proof: Proof, url: string): void {
    if (this.#held.size >= KEPT_MAX) this.#held.clear();
    this.#held.set(proof.subscriptionId, { hash: hashOf(proof), url });
  }

  /** The subscription's URL; null if that proof is not known to hold. */
  urlFor(proof: Proof): string | null {
    const held = this.#held.get(proof.subscriptionId);
    return held !== undefined && hashesMatch(hashOf(proof), held.hash) ? held.url : null;
  }
}

export interface Proof {
  organizationId: string;
  subscriptionId: string;
  secret: string;
}

function hashOf({ organizationId, secret }: Proof): string {
  return hashSecret(`${organizationId} ${secret}`);
}
