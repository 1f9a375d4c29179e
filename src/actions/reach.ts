import { Busy } from "../domain/errors.ts";
import { type Database, isOverdue, probe } from "../postgres/database.ts";
import type { Dependencies } from "./dependencies.ts";
import { depsOf, type Shard } from "./shards.ts";

/** Reads or changes one shard. */
export type Ask<Result> = (deps: Dependencies, shard: Shard) => Promise<Result>;

/** How `inReach` or `toTheEnd` asks a shard. */
export type Reach = <Result>(shard: Shard, act: Ask<Result>) => Promise<Result>;

/** How often the database is probed while work on it lasts. */
const SLOW_MS = 1_000;
/** How long a probe may take. */
const PROBE_MS = 1_000;

/**
 * Reads a shard. Throws if its database answers no probe during the read. Later calls then throw at once, until a probe
 * succeeds. So a frozen shard does not delay the answers of the others.
 */
export async function inReach<Result>(shard: Shard, read: Ask<Result>): Promise<Result> {
  const deps = depsOf(shard);
  let probing: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    const listen = async () => {
      const failure = await failureOf(deps.db);
      if (failure === null) return;
      noteSilence(shard, deps.db, failure);
      reject(failure);
    };
    probing = setInterval(() => void listen(), SLOW_MS);
  });
  try {
    return await toTheEnd(shard, () => Promise.race([read(deps, shard), silence]));
  } finally {
    clearInterval(probing);
  }
}

/**
 * Changes a shard. Throws at once if the database answers no probes. A change that has begun is waited for: it may be done
 * although no probe is answered, and its caller must learn that.
 */
export async function toTheEnd<Result>(shard: Shard, change: Ask<Result>): Promise<Result> {
  const deps = depsOf(shard);
  if (shard.isSilent) throw new Busy();
  try {
    return await change(deps, shard);
  } catch (error) {
    // If our own time limit ended the work, only the probes tell an outage.
    if (!isOverdue(error)) shard.noteFailure?.(error);
    throw error;
  }
}

/** Ends with the first probe that succeeds. */
function noteSilence(shard: Shard, db: Database, failure: Error): void {
  shard.noteFailure?.(failure);
  if (shard.isSilent) return;
  shard.isSilent = true;
  const listen = async () => {
    if ((await failureOf(db)) !== null) return;
    shard.isSilent = false;
    clearInterval(probing);
  };
  const probing = setInterval(() => void listen(), SLOW_MS).unref();
}

/** One probe serves all calls that wait for it. */
const probes = new WeakMap<Database, Promise<Error | null>>();

function failureOf(db: Database): Promise<Error | null> {
  const last = probes.get(db);
  if (last) return last;
  const asked = probe(db, PROBE_MS).then(
    () => null,
    (error: unknown) => error as Error,
  );
  probes.set(
    db,
    asked.finally(() => probes.delete(db)),
  );
  return asked;
}
