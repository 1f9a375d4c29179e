import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Config } from "../config.ts";
import { parseSealingKeys } from "../config.ts";
import type { KeyRing } from "../domain/sealed-secret.ts";
import type { Queryable } from "../postgres/database.ts";
import { listSealedSecrets } from "../postgres/subscriptions.ts";
import { keep, readKept } from "./kept-file.ts";

/**
 * The ring that seals signing secrets: configured, kept in the data folder, or made there now. It is made only while
 * nothing is sealed yet: a new key beside an old database would lose every secret.
 */
export async function openRing(
  { sealingKeys, dataDir }: Pick<Config, "sealingKeys" | "dataDir">,
  db: Queryable,
): Promise<KeyRing> {
  if (sealingKeys) return sealingKeys;

  const path = join(dataDir, "sealing-keys");
  const kept = (await readKept(path)) ?? (await makeRing(path, db));
  const ring = parseSealingKeys(kept);
  if (!ring) throw new Error(`${path} is damaged: it must hold id:base64 of 32 bytes`);
  return ring;
}

async function makeRing(path: string, db: Queryable): Promise<string> {
  const sealed = await listSealedSecrets(db, { after: null, limit: 1 });
  if (sealed.length > 0) {
    throw new Error(
      `the database holds sealed secrets, but SEALING_KEYS is not set and ${path} does not exist: restore the key ring`,
    );
  }
  return keep(path, `${randomBytes(4).toString("hex")}:${randomBytes(32).toString("base64")}`);
}
