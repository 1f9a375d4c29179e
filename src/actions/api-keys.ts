import { formatToken, hashSecret, mintToken, parseKeyId } from "../domain/api-key.ts";
import { requireNoFaults, noSuch } from "../domain/errors.ts";
import { labelFaults } from "../domain/key-label.ts";
import { grantScopes, type Scope } from "../domain/scope.ts";
import type { KeyId, OrganizationId } from "../domain/ids.ts";
import { insertApiKey, revokeApiKey as revoke } from "../postgres/api-keys.ts";
import type { Dependencies } from "./dependencies.ts";
import { getOrganization } from "./organizations.ts";

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
