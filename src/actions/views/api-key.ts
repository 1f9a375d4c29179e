import { publicId } from "../../domain/ids.ts";
import type { OperatedApiKeyRow } from "../../postgres/api-keys.ts";
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

export function viewApiKey(row: OperatedApiKeyRow): ApiKeyView {
  const organizationId = publicId("org", row.organization_id);
  return {
    key_id: row.key_id,
    organization_id: organizationId,
    organization: { id: organizationId, slug: row.organization_slug },
    scopes: row.scopes,
    label: row.label,
    created_at: row.created_at.toISOString(),
    last_used_at: row.last_used_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
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
