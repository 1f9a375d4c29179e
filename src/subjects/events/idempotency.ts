import { after } from "../../lib/clock.ts";
import { noSuch, PartnerError } from "../../lib/errors.ts";
import type { SubscriptionId } from "../../lib/ids.ts";
import { isInUse, type Queryable } from "../../postgres/database.ts";
import type { Dependencies } from "../dependencies.ts";
import { open, seal, whySealed } from "../secrets/rules.ts";
import { type AnswerKey, findKeptAnswer, insertKeptAnswer } from "./idempotency-sql.ts";
import { ANSWER_KEPT_MS } from "./rules.ts";

/** A request with an Idempotency-Key. */
export interface KeyedRequest extends AnswerKey {
  /** The SHA-256 of the request's path and body. */
  hash: Buffer;
}

interface Answer {
  /** The bytes as they are sent. */
  body: string;
  isReplayed: boolean;
}

/** Keeps the answer to a request, in the transaction that does the request's work. */
type Keep = (tx: Queryable, subscriptionId: SubscriptionId, body: string) => Promise<void>;

type Deps = Pick<Dependencies, "db" | "clock" | "ring">;

/** How long a request waits for the commit of another one with its key. */
const WINNER_WAIT_MS = 1_000;

/**
 * Returns the answer that is kept for the request's key. If there is none, calls `work`, which does the work, keeps the answer
 * and returns it. If several requests have one key, in any process, only one of them does the work. The others get its answer.
 */
export async function answerOnce(
  deps: Deps,
  request: KeyedRequest,
  work: (keep: Keep) => Promise<string>,
): Promise<Answer> {
  const kept = await findAnswer(deps, request);
  if (kept !== null) return { body: kept, isReplayed: true };
  try {
    return { body: await work(keeper(deps, request)), isReplayed: false };
  } catch (error) {
    if (!(error instanceof PartnerError)) throw error;
    // Another request with the key may have come first, and may be the cause of this error.
    const winners = await findAnswer(deps, request);
    if (winners === null) throw error;
    return { body: winners, isReplayed: true };
  }
}

async function findAnswer(
  { db, clock, ring }: Deps,
  request: KeyedRequest,
): Promise<string | null> {
  const own = db.of(request.organizationId);
  const kept = await findKeptAnswer(own, request, after(clock(), -ANSWER_KEPT_MS));
  if (kept === null) return null;
  if (!kept.requestHash.equals(request.hash)) {
    throw new PartnerError(
      "idempotency_key_reused",
      "The Idempotency-Key was used for a different request.",
    );
  }
  if (kept.sealedAnswer === null) throw noSuch("resource");
  const answer = open(ring, rowNameOf(kept), kept.sealedAnswer);
  if (answer === null) throw new Error(`a kept answer ${whySealed(ring, kept.sealedAnswer)}`);
  return answer;
}

function keeper({ clock, ring }: Deps, request: KeyedRequest): Keep {
  return async (tx, subscriptionId, body) => {
    const now = clock();
    const { hash: requestHash, ...key } = request;
    const sealedAnswer = seal(ring, rowNameOf(key), body);
    const answer = { ...key, requestHash, subscriptionId, sealedAnswer, at: now };
    const times = { expired: after(now, -ANSWER_KEPT_MS), waitMs: WINNER_WAIT_MS };
    const isKept = await insertKeptAnswer(tx, answer, times).catch((error: unknown) => {
      throw isInUse(error) ? inProgress() : error;
    });
    if (!isKept) throw inProgress();
  };
}

/** Returns the name of the row that a sealed answer is bound to. */
export function rowNameOf({ organizationId, route, key }: AnswerKey): string {
  return `${organizationId} ${route} ${key}`;
}

function inProgress(): PartnerError {
  return new PartnerError(
    "request_in_progress",
    "Another request with this Idempotency-Key is in progress. Send this one again in a second.",
  );
}
