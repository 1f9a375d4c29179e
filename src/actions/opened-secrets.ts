import { type KeyRing, open } from "../domain/sealed-secret.ts";
import type { SubscriptionId } from "../domain/ids.ts";
import { BoundedCache } from "../lib/bounded-cache.ts";

const KEPT_MAX = 10_000;
const kept = new WeakMap<KeyRing, BoundedCache<SubscriptionId, Opened>>();

interface Opened {
  sealed: Buffer;
  secret: string;
}

/**
 * Opens a sealed secret like `open`, with a cache, because every attempt needs the secret and opening costs more than signing.
 * The process holds the ring in memory, so the opened secrets there add no risk.
 */
export function openOnce(
  ring: KeyRing,
  subscriptionId: SubscriptionId,
  sealed: Buffer,
): string | null {
  let opened = kept.get(ring);
  if (opened === undefined) kept.set(ring, (opened = new BoundedCache(KEPT_MAX)));

  const known = opened.get(subscriptionId);
  if (known?.sealed.equals(sealed)) return known.secret;

  const secret = open(ring, subscriptionId, sealed);
  if (secret === null) return null;
  opened.set(subscriptionId, { sealed, secret });
  return secret;
}
