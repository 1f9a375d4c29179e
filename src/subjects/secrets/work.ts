import { BoundedCache } from "../../lib/bounded-cache.ts";
import { publicId, type SubscriptionId } from "../../lib/ids.ts";
import type { Dependencies } from "../dependencies.ts";
import {
  listSealedAnswers,
  replaceSealedAnswer,
  type SealedAnswer,
} from "../events/idempotency-sql.ts";
import { rowNameOf } from "../events/idempotency.ts";
import { listSealedSecrets, replaceSealedSecret, type SealedSecret } from "../subscriptions/sql.ts";
import { keyIdOf, type KeyRing, open, seal } from "./rules.ts";

const KEPT_MAX = 10_000;
const kept = new WeakMap<KeyRing, BoundedCache<SubscriptionId, Opened>>();

interface Opened {
  sealed: Buffer;
  secret: string;
}

/**
 * Opens a sealed secret like `open`, with a cache, because every attempt needs the secret and opening costs more than signing.
 * The process holds the ring in memory, so the opened secrets there add no risk.
 */
export function openOnce(
  ring: KeyRing,
  subscriptionId: SubscriptionId,
  sealed: Buffer,
): string | null {
  let opened = kept.get(ring);
  if (opened === undefined) kept.set(ring, (opened = new BoundedCache(KEPT_MAX)));

  const known = opened.get(subscriptionId);
  if (known?.sealed.equals(sealed)) return known.secret;

  const secret = open(ring, subscriptionId, sealed);
  if (secret === null) return null;
  opened.set(subscriptionId, { sealed, secret });
  return secret;
}

const BATCH = 100;
const NAMED_MAX = 100;

type Sealing = Pick<Dependencies, "db" | "ring">;

export interface Resealed {
  /** The id of the key that seals everything now, except the unreadable secrets. */
  sealing_key: string;
  /** The number of signing secrets and kept answers that were sealed again. */
  resealed: number;
  /** The number that the newest key already sealed. */
  unchanged: number;
  /** The number of signing secrets that no key of the ring opens. They are kept, because another ring may open them. */
  unreadable: number;
  /** The first hundred subscriptions with an unreadable secret. */
  unreadable_subscriptions: string[];
}

/**
 * Seals every signing secret and every kept answer under the newest key of the ring, while the service runs, each in its own
 * transaction. Does not change those that were replaced or erased during it. After an interruption, call it again: it continues. A
 * kept answer that no key opens is left to expire.
 */
export async function reseal({ db, ring }: Sealing): Promise<Resealed> {
  const done = { resealed: 0, unchanged: 0, unreadable: 0, gone: 0 };
  const named: string[] = [];
  for await (const batch of sealedSecrets({ db, ring })) {
    const results = await Promise.all(batch.map((row) => resealOne({ db, ring }, row)));
    for (const result of results) done[result]++;
    const lost = batch.filter((_, index) => results[index] === "unreadable");
    named.push(...lost.slice(0, NAMED_MAX - named.length).map(({ id }) => publicId("wh", id)));
  }
  const { unreadable } = done;
  for await (const batch of sealedAnswers({ db, ring })) {
    const results = await Promise.all(batch.map((row) => resealAnswer({ db, ring }, row)));
    for (const result of results) done[result]++;
  }
  const { resealed, unchanged } = done;
  return {
    sealing_key: ring[0].id,
    resealed,
    unchanged,
    unreadable,
    unreadable_subscriptions: named,
  };
}

interface Sealed extends SealedSecret {
  /** Null if no key of the ring opens it. */
  secret: string | null;
}

async function resealOne(
  { db, ring }: Sealing,
  { id, sealedSecret: from, secret }: Sealed,
): Promise<"resealed" | "unchanged" | "unreadable" | "gone"> {
  if (secret === null) return "unreadable";
  if (keyIdOf(from) === ring[0].id) return "unchanged";
  const isReplaced = await replaceSealedSecret(db, { id, from, to: seal(ring, id, secret) });
  return isReplaced ? "resealed" : "gone";
}

async function resealAnswer(
  { db, ring }: Sealing,
  { answer, ...row }: SealedAnswer & { answer: string | null },
): Promise<"resealed" | "unchanged" | "unreadable" | "gone"> {
  if (answer === null) return "unreadable";
  if (keyIdOf(row.sealedAnswer) === ring[0].id) return "unchanged";
  const change = { from: row.sealedAnswer, to: seal(ring, rowNameOf(row), answer) };
  return (await replaceSealedAnswer(db, row, change)) ? "resealed" : "gone";
}

/**
 * Returns how many signing secrets and kept answers each key of the ring seals, newest key first, and how many secrets no key
 * opens.
 */
export async function surveySecrets({ db, ring }: Sealing) {
  const byKey = new Map(ring.map(({ id }) => [id, 0]));
  let unreadable = 0;
  for await (const batch of sealedSecrets({ db, ring })) {
    for (const { sealedSecret, secret } of batch) {
      const keyId = keyIdOf(sealedSecret);
      if (secret === null || keyId === null) unreadable++;
      else byKey.set(keyId, (byKey.get(keyId) ?? 0) + 1);
    }
  }
  for await (const batch of sealedAnswers({ db, ring })) {
    for (const { sealedAnswer, answer } of batch) {
      const keyId = keyIdOf(sealedAnswer);
      if (answer !== null && keyId !== null) byKey.set(keyId, (byKey.get(keyId) ?? 0) + 1);
    }
  }
  return { byKey, unreadable };
}

/** Throws if there are secrets and the ring opens none. A wrong ring would seal new secrets that the right one cannot open. */
export async function requireRingInUse(sealing: Sealing): Promise<void> {
  let isAnySealed = false;
  for await (const batch of sealedSecrets(sealing)) {
    if (batch.some(({ secret }) => secret !== null)) return;
    isAnySealed = true;
  }
  if (isAnySealed) {
    throw new Error(
      "the key ring opens none of the database's secrets: SEALING_KEYS, or the file sealing-keys, belongs to another database",
    );
  }
}

async function* sealedSecrets({ db, ring }: Sealing): AsyncGenerator<Sealed[]> {
  for (let after: string | null = null; ;) {
    const batch: SealedSecret[] = await listSealedSecrets(db, { after, limit: BATCH });
    after = batch.at(-1)?.id ?? null;
    if (after === null) return;
    yield batch.map((row) => ({ ...row, secret: open(ring, row.id, row.sealedSecret) }));
  }
}

async function* sealedAnswers({ db, ring }: Sealing) {
  for (let after: SealedAnswer | null = null; ;) {
    const batch: SealedAnswer[] = await listSealedAnswers(db, { after, limit: BATCH });
    after = batch.at(-1) ?? null;
    if (after === null) return;
    yield batch.map((row) => ({ ...row, answer: open(ring, rowNameOf(row), row.sealedAnswer) }));
  }
}
