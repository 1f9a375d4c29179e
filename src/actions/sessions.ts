import { after } from "../domain/clock.ts";
import { randomId } from "../domain/ids.ts";
import { type Session, SESSION_MS } from "../domain/session.ts";
import { deleteEndedSessions } from "../postgres/expired-rows.ts";
import { insertEndedSession, isSessionEnded, listEndedSessions } from "../postgres/sessions.ts";
import type { Dependencies } from "./dependencies.ts";
import { everywhere } from "./everywhere.ts";
import type { Shards } from "./shards.ts";

export function beginSession({ clock }: Pick<Shards, "clock">): Session {
  return { nonce: randomId(), endsAt: after(clock(), SESSION_MS) };
}

/** Ends a session for every process. Every shard records it, so that any of them can tell. */
export async function endSession(shards: Shards, session: Session): Promise<void> {
  await everywhere(shards, ({ db }) => insertEndedSession(db, session));
}

/**
 * Returns true if a session was ended before it expired. One shard that says so is enough. A shard that is away does not lock
 * operators out: `spreadEndedSessions` tells each shard what ended while it was away.
 */
export async function wasEnded(shards: Shards, { nonce }: Session): Promise<boolean> {
  const { values } = await everywhere(shards, ({ db }) => isSessionEnded(db, nonce));
  return values.includes(true);
}

/** Ended sessions that are compared at once. */
const SPREAD_MAX = 1_000;

/** Records in every shard the sessions that ended while it was away. */
export async function spreadEndedSessions(shards: Shards): Promise<void> {
  const now = shards.clock();
  const { values } = await everywhere(shards, async ({ db }, shard) => {
    return { shard, ended: await listEndedSessions(db, { now, limit: SPREAD_MAX }) };
  });
  const all = new Map(values.flatMap(({ ended }) => ended).map((one) => [one.nonce, one]));
  await everywhere(shards, async ({ db }, shard) => {
    const known = values.find((one) => one.shard === shard)?.ended;
    const nonces = new Set(known?.map(({ nonce }) => nonce));
    const missed = known ? [...all.values()].filter(({ nonce }) => !nonces.has(nonce)) : [];
    for (const one of missed) await insertEndedSession(db, one);
  });
}

/** The clocks of two processes differ by less. So no process still accepts a session that is forgotten here. */
const MARGIN_MS = 60_000;

/** Forgets ended sessions that have expired, in short statements, until none is left or `signal` aborts. */
export async function forgetEndedSessions(
  { db, clock }: Pick<Dependencies, "db" | "clock">,
  signal?: AbortSignal,
): Promise<void> {
  const horizon = after(clock(), -MARGIN_MS);
  while (!signal?.aborted && (await deleteEndedSessions(db, horizon)));
}
