import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { type Config, parseAdminTokens, parseSealingKeys } from "../config/config.ts";
import { keep, readKept } from "../lib/kept.ts";
import type { Queryable } from "../postgres/database.ts";
import type { OperatorToken } from "../subjects/operators/rules.ts";
import type { KeyRing } from "../subjects/secrets/rules.ts";
import { listSealedSecrets } from "../subjects/subscriptions/sql.ts";
import { describeDatabase } from "./database.ts";

/** Returns the operators' tokens: those of the settings, those in the data folder, or new ones. */
export async function openAdminTokens({
  adminTokens,
  dataDir,
}: Pick<Config, "adminTokens" | "dataDir">): Promise<OperatorToken[]> {
  if (adminTokens) return [...adminTokens];

  const path = adminTokenPath(dataDir);
  const kept = (await readKept(path)) ?? (await keep(path, randomBytes(32).toString("base64url")));
  const tokens = parseAdminTokens(kept);
  if (!tokens) throw new Error(`${path} is damaged: it must hold a token of 32 to 512 characters`);
  return tokens;
}

export function adminTokenPath(dataDir: string): string {
  return join(dataDir, "admin-token");
}

/**
 * Returns the key ring: from the settings, from the data folder, or a new one. A new ring is made only while nothing is sealed,
 * because it could not open the secrets of an existing database.
 */
export async function openRing(config: Config, db: Queryable): Promise<KeyRing> {
  if (config.sealingKeys) return config.sealingKeys;

  const path = sealingKeysPath(config.dataDir);
  const kept = (await readKept(path)) ?? (await makeRing(path, config, db));
  const ring = parseSealingKeys(kept);
  if (!ring)
    throw new Error(`${path} is damaged: it must hold one key a line, id:base64 of 32 bytes`);
  return ring;
}

export function sealingKeysPath(dataDir: string): string {
  return join(dataDir, "sealing-keys");
}

async function makeRing(path: string, config: Config, db: Queryable): Promise<string> {
  const sealed = await listSealedSecrets(db, { after: null, limit: 1 });
  if (sealed.length > 0) {
    throw new Error(
      `the database (${describeDatabase(config)}) holds sealed secrets, but SEALING_KEYS is not set ` +
        `and ${path} does not exist: restore the key ring, or take an empty database`,
    );
  }
  return keep(path, `${randomBytes(4).toString("hex")}:${randomBytes(32).toString("base64")}`);
}
