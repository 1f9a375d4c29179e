import { parseAuthorization, secretMatches } from "../domain/api-key.ts";
import { PartnerError } from "../domain/errors.ts";
import type { Caller } from "../domain/scope.ts";
import { updateLastUsed } from "../postgres/api-keys.ts";
import type { Dependencies } from "./dependencies.ts";

/** Keys whose use waits to be written. Beyond that a use is not noted: its key's next one is. */
const KEYS_USED_MAX = 10_000;

/**
 * Turns an Authorization header into a caller. Every way to fail looks the same from outside, and a key that does
 * not exist costs the same work as one that does. No key is cached: a revocation holds from the next request on.
 */
export async function authenticate(
  { gathered, clock, keysUsed }: Pick<Dependencies, "gathered" | "clock" | "keysUsed">,
  authorization: string | undefined,
): Promise<Caller> {
  const token = parseAuthorization(authorization);
  const key = token && (await gathered.findCredential(token.keyId));
  const matches = token && secretMatches(token.secret, key?.secret_hash);
  if (!key || !matches) {
    throw new PartnerError(
      "unauthenticated",
      "The API key is missing, malformed, unknown or revoked.",
    );
  }

  if (keysUsed.size < KEYS_USED_MAX || keysUsed.has(key.key_id)) keysUsed.set(key.key_id, clock());
  return {
    organizationId: key.organization_id,
    slug: key.slug,
    keyId: key.key_id,
    scopes: key.scopes,
    rateLimitPerMinute: key.rate_limit_per_minute,
  };
}

/** Writes when keys were last used: called now and then, since nobody needs it to the second. */
export async function recordKeysUsed({
  db,
  keysUsed,
}: Pick<Dependencies, "db" | "keysUsed">): Promise<void> {
  if (keysUsed.size === 0) return;
  const used = [...keysUsed].map(([key_id, at]) => ({ key_id, at }));
  keysUsed.clear();
  await updateLastUsed(db, used);
}
