import type { OrganizationId, SubscriptionId } from "../../lib/ids.ts";
import type { Queryable } from "../../postgres/database.ts";
import type { KeyedRoute } from "./rules.ts";

/** The identity of a kept answer. */
export interface AnswerKey {
  organizationId: OrganizationId;
  route: KeyedRoute;
  key: string;
}

export interface KeptAnswer extends AnswerKey {
  requestHash: Buffer;
  subscriptionId: SubscriptionId;
  /** Null once the subscription is deleted. */
  sealedAnswer: Buffer | null;
  at: Date;
}

/**
 * Null if absent, or kept at or before `expired`. The lock is a write, so its commit waits for the standby that the answer's own
 * commit may not have waited for: a request that is abandoned leaves its row on the primary alone.
 */
export async function findKeptAnswer(
  db: Queryable,
  { organizationId, route, key }: AnswerKey,
  expired: Date,
): Promise<KeptAnswer | null> {
  const [row] = await db<KeptAnswer[]>`
    select organization_id as "organizationId", route, key, request_hash as "requestHash",
           subscription_id as "subscriptionId", at,
           case when exists (
             select from subscriptions s where s.id = subscription_id and s.deleted_at is null
           ) then sealed_answer end as "sealedAnswer"
      from kept_answers
     where organization_id = ${organizationId} and route = ${route} and key = ${key} and at > ${expired}
       for key share of kept_answers`;
  return row ?? null;
}

/**
 * Keeps an answer. Replaces one that was kept at or before `expired`. Returns false if the key is taken. Waits up to `waitMs`
 * for a transaction that has taken the key and not committed (see `isInUse`).
 */
export async function insertKeptAnswer(
  tx: Queryable,
  answer: KeptAnswer,
  { expired, waitMs }: { expired: Date; waitMs: number },
): Promise<boolean> {
  await tx`select set_config('lock_timeout', ${String(waitMs)}, true)`;
  const { count } = await tx`
    insert into kept_answers as k (organization_id, route, key, request_hash, subscription_id, at, sealed_answer)
    values (${answer.organizationId}, ${answer.route}, ${answer.key}, ${answer.requestHash}, ${answer.subscriptionId},
            ${answer.at}, ${answer.sealedAnswer})
        on conflict (organization_id, route, key) do update
       set request_hash = excluded.request_hash, subscription_id = excluded.subscription_id, at = excluded.at,
           sealed_answer = excluded.sealed_answer
     where k.at <= ${expired}`;
  await tx`set local lock_timeout to default`;
  return count === 1;
}

export type SealedAnswer = AnswerKey & { sealedAnswer: Buffer };

/** Returns sealed answers in order of their keys, after `after`. */
export async function listSealedAnswers(
  db: Queryable,
  { after, limit }: { after: AnswerKey | null; limit: number },
): Promise<SealedAnswer[]> {
  return db<SealedAnswer[]>`
    select organization_id as "organizationId", route, key, sealed_answer as "sealedAnswer"
      from kept_answers
     where sealed_answer is not null
       ${after === null ? db`` : db`and (organization_id, route, key) > (${after.organizationId}, ${after.route}, ${after.key})`}
     order by organization_id, route, key
     limit ${limit}`;
}

/** Returns false if the answer was replaced or erased meanwhile. */
export async function replaceSealedAnswer(
  db: Queryable,
  { organizationId, route, key }: AnswerKey,
  { from, to }: { from: Buffer; to: Buffer },
): Promise<boolean> {
  const { count } = await db`
    update kept_answers set sealed_answer = ${to}
     where organization_id = ${organizationId} and route = ${route} and key = ${key} and sealed_answer = ${from}`;
  return count === 1;
}
