import type { KeyId, OrganizationId } from "../../lib/ids.ts";
import type { Queryable } from "../../postgres/database.ts";
import type { Scope } from "./rules.ts";

/** A key as operators see it, without its hash. */
export interface ApiKey {
  keyId: KeyId;
  organizationId: OrganizationId;
  organizationSlug: string;
  scopes: Scope[];
  label: string | null;
  createdAt: Date;
  lastUsedAt: Date | null;
  revokedAt: Date | null;
}

/** Returns false if the key id exists or the organization is closed. Waits for a closing that has not committed. */
export async function insertApiKey(
  db: Queryable,
  key: Pick<ApiKey, "keyId" | "organizationId" | "scopes" | "label" | "createdAt"> & {
    /** Hex. */
    secretHash: string;
  },
): Promise<boolean> {
  const { count } = await db`
    insert into api_keys (key_id, organization_id, secret_hash, scopes, label, created_at)
    select ${key.keyId}, id, decode(${key.secretHash}, 'hex'), ${key.scopes}::text[], ${key.label}::text,
           ${key.createdAt}::timestamptz
      from organizations
     where id = ${key.organizationId} and closed_at is null
       for share
    on conflict (key_id) do nothing`;
  return count === 1;
}

/** Returns keys, newest first, after `after`. */
export async function listApiKeys(
  db: Queryable,
  {
    organizationId,
    includeRevoked,
    after,
    limit,
  }: {
    organizationId: OrganizationId | null;
    includeRevoked: boolean;
    after: { createdAt: Date; keyId: KeyId } | null;
    limit: number;
  },
): Promise<ApiKey[]> {
  return db<ApiKey[]>`
    select key_id as "keyId", organization_id as "organizationId", scopes, label, created_at as "createdAt",
           last_used_at as "lastUsedAt", revoked_at as "revokedAt",
           (select slug from organizations o where o.id = api_keys.organization_id) as "organizationSlug"
      from api_keys
     where true
       ${organizationId === null ? db`` : db`and organization_id = ${organizationId}`}
       ${includeRevoked ? db`` : db`and revoked_at is null`}
       ${after === null ? db`` : db`and (created_at, key_id) < (${after.createdAt}, ${after.keyId})`}
     order by created_at desc, key_id desc
     limit ${limit}`;
}

/** Revokes a key for good. Revoking again changes nothing. Returns false if there is no such key. */
export async function revokeApiKey(db: Queryable, keyId: KeyId, now: Date): Promise<boolean> {
  const { count } = await db`
    update api_keys set revoked_at = coalesce(revoked_at, ${now}) where key_id = ${keyId}`;
  return count === 1;
}

/** Revokes all keys of an organization. */
export async function revokeKeysOf(
  tx: Queryable,
  organizationId: OrganizationId,
  now: Date,
): Promise<void> {
  await tx`
    update api_keys set revoked_at = ${now}
     where key_id in (
       select key_id from api_keys
        where organization_id = ${organizationId} and revoked_at is null
        order by key_id
          for no key update)`;
}

/** Updates rows in one order, so that two processes cannot deadlock. */
export async function updateLastUsed(
  db: Queryable,
  used: (readonly [keyId: KeyId, at: Date])[],
): Promise<void> {
  const rows = used.toSorted(([a], [b]) => (a < b ? -1 : 1));
  await db`
    update api_keys k
       set last_used_at = greatest(k.last_used_at, u.at)
      from unnest(${rows.map(([keyId]) => keyId)}::text[], ${rows.map(([, at]) => at.toISOString())}::timestamptz[])
           as u (key_id, at)
     where k.key_id = u.key_id`;
}
