import { batch, type BatchOptions } from "../../lib/batch.ts";
import { BoundedCache } from "../../lib/bounded-cache.ts";
import { unauthenticated } from "../../lib/errors.ts";
import type { OrganizationId } from "../../lib/ids.ts";
import type { Queryable } from "../../postgres/database.ts";
import { countRequest } from "../activity/counted.ts";
import type { Admitted, Dependencies } from "../dependencies.ts";
import { admitKeys, insertWindows, type Presented, type PresentedKey } from "./admission-sql.ts";
import {
  type Allowance,
  allowanceAt,
  type Caller,
  hashesMatch,
  hashSecret,
  NO_HASH,
  parseAuthorization,
  WINDOW_MS,
} from "./rules.ts";
import { updateLastUsed } from "./sql.ts";

/** The most keys whose last use is not yet written. Beyond it a use is not noted. */
const KEYS_USED_MAX = 10_000;
/** Keys whose organization is remembered. */
const OWNERS_MAX = 10_000;
/** All tokens that were not admitted before take turns as one organization. */
const UNKNOWN = "";

/**
 * Turns an Authorization header into a caller, and counts the request. All keys of an organization share one count, over all
 * processes. All failures look the same from outside, and an unknown key costs the same work as a known one. No key is cached,
 * so a revocation takes effect with the next request.
 */
export async function admit(
  {
    batched,
    clock,
    keysUsed,
    activity,
  }: Pick<Dependencies, "batched" | "clock" | "keysUsed" | "activity">,
  authorization: string | undefined,
): Promise<{ caller: Caller; allowance: Allowance }> {
  const token = parseAuthorization(authorization);
  const admitted =
    token && (await batched.admit({ keyId: token.keyId, secretHash: hashSecret(token.secret) }));
  if (!admitted) throw unauthenticated();

  const { key, ordinal, openedAt } = admitted;
  const now = clock();
  const { organizationId, slug, keyId, scopes, rateLimitPerMinute } = key;
  if (keysUsed.size < KEYS_USED_MAX || keysUsed.has(keyId)) keysUsed.set(keyId, now);
  const allowance = allowanceAt(ordinal, rateLimitPerMinute, openedAt, now);
  countRequest(activity, organizationId, allowance);
  return { caller: { organizationId, slug, keyId, scopes, rateLimitPerMinute }, allowance };
}

/**
 * Admits requests in batches, in which organizations take turns. A token's organization is remembered from its last
 * admission. So neither many keys nor guessed ones get more turns. What is remembered decides only on the turn.
 */
export function createAdmitting(
  { db, clock }: Pick<Dependencies, "db" | "clock">,
  options: BatchOptions & { patienceMs: number },
): (presented: Presented) => Promise<Admitted | null> {
  const owners = new BoundedCache<string, OrganizationId>(OWNERS_MAX);

  async function admitBatch(presented: Presented[]): Promise<(Admitted | null)[]> {
    const results = await admitAll({ db: db.within(options.patienceMs), clock }, presented);
    presented.forEach(({ secretHash }, i) => {
      const owner = results[i]?.key.organizationId;
      if (owner && owners.get(secretHash) === undefined) owners.set(secretHash, owner);
    });
    return results;
  }
  return batch(admitBatch, options, ({ secretHash }) => owners.get(secretHash) ?? UNKNOWN);
}

/** Admits requests of any organizations, in the order in which they came. A result is null if the key is not valid. */
export async function admitAll(
  { db, clock }: Pick<Dependencies, "db" | "clock">,
  presented: Presented[],
): Promise<(Admitted | null)[]> {
  const rows = await admitOpeningWindows(db, presented, clock());
  const keys = new Map(rows.map((row) => [row.keyId, row]));
  const windows = windowsOf(rows);

  return presented.map(({ keyId, secretHash }) => {
    const key = keys.get(keyId);
    const matches = hashesMatch(secretHash, key?.secretHash ?? NO_HASH);
    if (!key || !matches) return null;

    const window = windows.get(key.organizationId);
    if (!window)
      throw new Error(
        `a defect: organization ${key.organizationId} has no rate window after an insert`,
      );
    return { key, ordinal: ++window.used, openedAt: window.openedAt };
  });
}

/** Admits keys. The first request of an organization has no window yet: inserts one and admits the request again. */
async function admitOpeningWindows(
  db: Queryable,
  presented: Presented[],
  now: Date,
): Promise<PresentedKey[]> {
  const wanted = tokensOf(presented);
  const time = { now, expired: new Date(now.getTime() - WINDOW_MS) };

  const rows = await admitKeys(db, wanted, time);
  const uncounted = rows.filter((row) => row.isCounted && row.openedAt === null);
  if (uncounted.length === 0) return rows;

  await insertWindows(db, [...new Set(uncounted.map((row) => row.organizationId))]);
  const keyIds = new Set(uncounted.map((row) => row.keyId));
  const again = wanted.filter((token) => keyIds.has(token.keyId));
  const counted = rows.filter((row) => !uncounted.includes(row));
  return [...counted, ...(await admitKeys(db, again, time))];
}

/** Returns each token once, with the number of requests that present it. */
function tokensOf(presented: Presented[]) {
  const tokens = new Map<string, Presented & { requests: number }>();
  for (const { keyId, secretHash } of presented) {
    const name = `${keyId}.${secretHash}`;
    const token = tokens.get(name) ?? { keyId, secretHash, requests: 0 };
    token.requests++;
    tokens.set(name, token);
  }
  return [...tokens.values()];
}

function windowsOf(rows: PresentedKey[]): Map<OrganizationId, { openedAt: Date; used: number }> {
  const windows = new Map<OrganizationId, { openedAt: Date; used: number }>();
  for (const { organizationId, openedAt, usedBefore } of rows) {
    if (openedAt === null || usedBefore === null) continue;
    windows.set(organizationId, { openedAt: new Date(openedAt), used: usedBefore });
  }
  return windows;
}

/** Writes when keys were last used. It is called at intervals, because nothing needs the exact second. */
export async function recordKeysUsed({
  db,
  keysUsed,
}: Pick<Dependencies, "db" | "keysUsed">): Promise<void> {
  if (keysUsed.size === 0) return;
  const used = [...keysUsed];
  keysUsed.clear();
  try {
    await updateLastUsed(db, used);
  } catch (error) {
    for (const [keyId, at] of used) if (!keysUsed.has(keyId)) keysUsed.set(keyId, at);
    throw error;
  }
}
