import { publicId } from "../domain/ids.ts";
import { type KeyRing, keyIdOf, open, seal } from "../domain/sealed-secret.ts";
import { listSealedSecrets, replaceSealedSecret } from "../postgres/subscriptions.ts";
import type { Dependencies } from "./dependencies.ts";

const BATCH = 100;

export interface Resealed {
  /** The key that seals everything now, but for what is unreadable. */
  sealing_key: string;
  resealed: number;
  /** Were under the newest key already. */
  unchanged: number;
  /** Subscriptions whose secret no key of the ring opens. Left as they were: another ring may open them. */
  unreadable: string[];
}

/**
 * Seals every secret under the newest key of the ring, while the service runs. A secret that is replaced or erased
 * meanwhile is left alone. Broken off, it goes on where it was when it is called again.
 */
export async function reseal({ db, ring }: Pick<Dependencies, "db" | "ring">): Promise<Resealed> {
  const result: Resealed = {
    sealing_key: ring[0].id,
    resealed: 0,
    unchanged: 0,
    unreadable: [],
  };
  let after: string | null = null;
  for (;;) {
    const batch = await listSealedSecrets(db, { after, limit: BATCH });
    const done = await Promise.all(batch.map((row) => resealOne({ db, ring }, row)));
    batch.forEach(({ id }, index) => {
      if (done[index] === "unreadable") result.unreadable.push(publicId("wh", id));
      else if (done[index] === "resealed") result.resealed++;
      else if (done[index] === "unchanged") result.unchanged++;
    });
    after = batch.at(-1)?.id ?? null;
    if (after === null) return result;
  }
}

async function resealOne(
  { db, ring }: { db: Dependencies["db"]; ring: KeyRing },
  { id, sealed_secret: from }: { id: string; sealed_secret: Buffer },
): Promise<"resealed" | "unchanged" | "unreadable" | "gone"> {
  const secret = open(ring, id, from);
  if (secret === null) return "unreadable";
  if (keyIdOf(from) === ring[0].id) return "unchanged";
  const isReplaced = await replaceSealedSecret(db, { id, from, to: seal(ring, id, secret) });
  return isReplaced ? "resealed" : "gone";
}

/** How many signing secrets no key of the ring opens. */
export async function countUnreadable({
  db,
  ring,
}: Pick<Dependencies, "db" | "ring">): Promise<number> {
  let count = 0;
  let after: string | null = null;
  do {
    const batch = await listSealedSecrets(db, { after, limit: BATCH });
    count += batch.filter(({ id, sealed_secret }) => open(ring, id, sealed_secret) === null).length;
    after = batch.at(-1)?.id ?? null;
  } while (after !== null);
  return count;
}
