import type { OrganizationId, SubscriptionId } from "../domain/ids.ts";
import type { KeyedRoute } from "../domain/idempotency-key.ts";
import type { Queryable } from "./database.ts";
import { DELETED_MAX } from "./deletion.ts";

/** The identity of a kept answer. */
export interface AnswerKey {
  organization_id: OrganizationId;
  route: KeyedRoute;
  key: string;
}

export interface KeptAnswerRow extends AnswerKey {
  request_hash: Buffer;
  subscription_id: SubscriptionId;
  /** Null once the subscription is deleted. */
  sealed_answer: Buffer | null;
  at: Date;
}

/** Null if absent, or kept at or before `expired`. */
export async function findKeptAnswer(
  db: Queryable,
  { organization_id, route, key }: AnswerKey,
  expired: Date,
): Promise<KeptAnswerRow | null> {
  const [row] = await db<KeptAnswerRow[]>`
    select organization_id, route, key, request_hash, subscription_id, at,
           case when exists (
             select from subscriptions s where s.id = subscription_id and s.deleted_at is null
           ) then sealed_answer end as sealed_answer
      from kept_answers
     where organization_id = ${organization_id} and route = ${route} and key = ${key} and at > ${expired}`;
  return row ?? null;
}

/**
 * Keeps an answer. Replaces one that was kept at or before `expired`. Returns false if the key is taken. Waits up to `waitMs`
 * for a transaction that has taken the key and not committed (see `isInUse`).
 */
export async function insertKeptAnswer(
  tx: Queryable,
  row: KeptAnswerRow,
  { expired, waitMs }: { expired: Date; waitMs: number },
): Promise<boolean> {
  await tx`select set_config('lock_timeout', ${String(waitMs)}, true)`;
  const { count } = await tx`
    insert into kept_answers as k (organization_id, route, key, request_hash, subscription_id, at, sealed_answer)
    values (${row.organization_id}, ${row.route}, ${row.key}, ${row.request_hash}, ${row.subscription_id}, ${row.at},
            ${row.sealed_answer})
        on conflict (organization_id, route, key) do update
       set request_hash = excluded.request_hash, subscription_id = excluded.subscription_id, at = excluded.at,
           sealed_answer = excluded.sealed_answer
     where k.at <= ${expired}`;
  await tx`set local lock_timeout to default`;
  return count === 1;
}

/** Deletes answers that were kept before `horizon`. Returns true if some may be left. */
export async function deleteOldAnswers(db: Queryable, horizon: Date): Promise<boolean> {
  const { count } = await db`
    delete from kept_answers
     where (organization_id, route, key) in (
       select organization_id, route, key
         from kept_answers
        where at < ${horizon}
        order by at
        limit ${DELETED_MAX}
          for update skip locked)`;
  return count === DELETED_MAX;
}

export type SealedAnswerRow = AnswerKey & {
  subscription_id: SubscriptionId;
  sealed_answer: Buffer;
};

/** Returns sealed answers in order of their keys, after `after`. */
export async function listSealedAnswers(
  db: Queryable,
  { after, limit }: { after: AnswerKey | null; limit: number },
): Promise<SealedAnswerRow[]> {
  return db<SealedAnswerRow[]>`
    select organization_id, route, key, subscription_id, sealed_answer
      from kept_answers
     where sealed_answer is not null
       ${after === null ? db`` : db`and (organization_id, route, key) > (${after.organization_id}, ${after.route}, ${after.key})`}
     order by organization_id, route, key
     limit ${limit}`;
}

/** Returns false if the answer was replaced or erased meanwhile. */
export async function replaceSealedAnswer(
  db: Queryable,
  { organization_id, route, key }: AnswerKey,
  { from, to }: { from: Buffer; to: Buffer },
): Promise<boolean> {
  const { count } = await db`
    update kept_answers set sealed_answer = ${to}
     where organization_id = ${organization_id} and route = ${route} and key = ${key} and sealed_answer = ${from}`;
  return count === 1;
}
