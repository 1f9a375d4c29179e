import { publicId } from "../../domain/ids.ts";
import type { ApiKey } from "../../postgres/api-keys.ts";
import type { IssuedKey } from "../api-keys.ts";

/** A key as operators see it, without its secret and hash. */
export interface ApiKeyView {
  key_id: string;
  organization_id: string;
  organization: { id: string; slug: string };
  scopes: string[];
  label: string | null;
  created_at: string;
  last_used_at: string | null;
  revoked_at: string | null;
}

/** A new key, with its token, which is shown once. */
export interface IssuedKeyView {
  key_id: string;
  token: string;
  organization_id: string;
  scopes: string[];
  label: string | null;
  created_at: string;
}

export function viewApiKey(row: ApiKey): ApiKeyView {
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

export function viewIssuedKey(key: IssuedKey): IssuedKeyView {
  return {
    key_id: key.keyId,
    token: key.token,
    organization_id: publicId("org", key.organizationId),
    scopes: key.scopes,
    label: key.label,
    created_at: key.createdAt.toISOString(),
  };
}
