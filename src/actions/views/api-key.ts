import { publicId } from "../../domain/ids.ts";
import type { ApiKey } from "../../postgres/api-keys.ts";
import type { IssuedKey } from "../api-keys.ts";

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
