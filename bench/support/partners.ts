import { randomId } from "../../src/lib/ids.ts";
import type { Database } from "../../src/postgres/database.ts";
import { formatToken, hashSecret, mintToken } from "../../src/subjects/keys/rules.ts";
import { type KeyRing, seal } from "../../src/subjects/secrets/rules.ts";
import { mintSigningSecret } from "../../src/webhook/sign.ts";

export interface Partner {
  organizationId: string;
  token: string;
}

export interface Subscription {
  id: string;
  partner: Partner;
  url: string;
  secret: string;
}

const ROWS_MAX = 1_000;
/** The time between creations of subscriptions. */
const INTERVAL_MS = 60_000;
const RATE_LIMIT_MAX = 1_000_000;

export async function createPartners(
  db: Database,
  count: number,
  name = "bench",
): Promise<Partner[]> {
  const created_at = new Date();
  const made = Array.from({ length: count }, (_, index) => {
    const { keyId, secret } = mintToken();
    return { organizationId: randomId(), keyId, secret, slug: `${name}-${index}` };
  });

  const organizations = made.map(({ organizationId: id, slug }) => ({
    id,
    slug,
    rate_limit_per_minute: RATE_LIMIT_MAX,
    created_at,
  }));
  await db`insert into organizations ${db(organizations)}`;
  const keys = made.map(({ organizationId: organization_id, keyId: key_id, secret }) => ({
    key_id,
    organization_id,
    secret_hash: Buffer.from(hashSecret(secret), "hex"),
    scopes: ["identity:read", "webhooks:manage"],
    created_at,
  }));
  await db`insert into api_keys ${db(keys)}`;
  return made.map((m) => ({ organizationId: m.organizationId, token: formatToken(m) }));
}

/** Subscribes URLs for the partners, in turn. */
export async function createSubscriptions(
  db: Database,
  ring: KeyRing,
  partners: readonly Partner[],
  urls: readonly string[],
): Promise<Subscription[]> {
  const subscriptions = urls.map((url, index) => {
    const partner = partners[index % partners.length];
    if (partner === undefined) throw new Error("there are no partners");
    return { id: randomId(), partner, url, secret: mintSigningSecret() };
  });

  const now = Date.now();
  const rows = subscriptions.map(({ id, partner, url, secret }, index) => ({
    id,
    organization_id: partner.organizationId,
    url,
    events: ["vc.test.ping"],
    sealed_secret: seal(ring, id, secret),
    created_at: new Date(now - index * INTERVAL_MS),
  }));
  for (let start = 0; start < rows.length; start += ROWS_MAX) {
    await db`insert into subscriptions ${db(rows.slice(start, start + ROWS_MAX))}`;
  }
  await db`analyze organizations, api_keys, subscriptions`;
  return subscriptions;
}
