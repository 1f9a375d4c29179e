import { noSuch, requireNoFaults } from "../../lib/errors.ts";
import { type KeyId, type OrganizationId, publicId } from "../../lib/ids.ts";
import type { Dependencies } from "../dependencies.ts";
import { getOrganization } from "../organizations/work.ts";
import {
  formatToken,
  grantScopes,
  hashSecret,
  labelFaults,
  mintToken,
  parseKeyId,
  type Scope,
} from "./rules.ts";
import { type ApiKey, insertApiKey, revokeApiKey as revoke } from "./sql.ts";

export interface IssuedKey {
  keyId: KeyId;
  /** The whole token. It is never shown again. */
  token: string;
  organizationId: OrganizationId;
  scopes: Scope[];
  label: string | null;
  createdAt: Date;
}

interface KeyRequest {
  /** An id or a slug. */
  organization: string;
  scopes?: string[] | undefined;
  label?: string | null | undefined;
}

export async function createApiKey(
  { db, clock, cell }: Pick<Dependencies, "db" | "clock" | "cell">,
  { organization, scopes: requested = [], label = null }: KeyRequest,
): Promise<IssuedKey> {
  const scopes = grantScopes(requested);
  requireNoFaults(label === null ? [] : labelFaults(label));
  const { id: organizationId } = await getOrganization({ db }, organization);
  const createdAt = clock();

  const { keyId, secret } = mintToken(cell);
  const isNew = await insertApiKey(db, {
    ...{ keyId, organizationId, scopes, label, createdAt },
    secretHash: hashSecret(secret),
  });
  if (!isNew) {
    await getOrganization({ db }, organization); // Throws if it was closed just now.
    throw new Error(`the random key id ${keyId} is already in use: create the key again`);
  }
  const token = formatToken({ keyId, secret });
  return { keyId, token, organizationId, scopes, label, createdAt };
}

/**
 * Revokes a key for good, from the next request on. Returns its id. Repeating this changes nothing. `name` is a key id, with or
 * without `vck_`.
 */
export async function revokeApiKey(
  { db, clock }: Pick<Dependencies, "db" | "clock">,
  name: string,
): Promise<KeyId> {
  const keyId = parseKeyId(name);
  const exists = keyId !== null && (await revoke(db, keyId, clock()));
  if (!exists) throw noSuch("key");
  return keyId;
}

/** A key as operators see it, without its secret and hash. */
export type ApiKeyView = ReturnType<typeof viewApiKey>;

/** A new key, with its token, which is shown once. */
export type IssuedKeyView = ReturnType<typeof viewIssuedKey>;

export function viewApiKey(row: ApiKey) {
  const organizationId = publicId("org", row.organizationId);
  return {
    key_id: row.keyId,
    organization_id: organizationId,
    organization: { id: organizationId, slug: row.organizationSlug },
    scopes: row.scopes,
    label: row.label,
    created_at: row.createdAt.toISOString(),
    last_used_at: row.lastUsedAt?.toISOString() ?? null,
    revoked_at: row.revokedAt?.toISOString() ?? null,
  };
}

export function viewIssuedKey(key: IssuedKey) {
  return {
    key_id: key.keyId,
    token: key.token,
    organization_id: publicId("org", key.organizationId),
    scopes: key.scopes,
    label: key.label,
    created_at: key.createdAt.toISOString(),
  };
}
