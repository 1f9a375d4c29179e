import { Busy } from "../domain/errors.ts";
import { type Database, probe } from "../postgres/database.ts";
import type { Dependencies } from "./dependencies.ts";
import { depsOf, type Shard } from "./shards.ts";

/** Reads or changes one shard. */
export type Ask<Result> = (deps: Dependencies, shard: Shard) => Promise<Result>;

/** How often the database is probed while work on it lasts. */
const SLOW_MS = 1_000;
/** How long a probe may take. */
const PROBE_MS = 1_000;

/**
 * Reads or changes a shard. The work may be slow. If the database answers no probe meanwhile, this throws, and later calls throw
 * at once, until a probe succeeds. So a frozen shard does not delay what the others answer.
 */
export async function inReach<Result>(shard: Shard, act: Ask<Result>): Promise<Result> {
  const deps = depsOf(shard);
  if (shard.isSilent) throw new Busy();
  let probing: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    const listen = async () => {
      const failure = await failureOf(deps.db);
      if (failure === null) return;
      noteSilence(shard, deps.db);
      reject(failure);
    };
    probing = setInterval(() => void listen(), SLOW_MS);
  });
  try {
    return await Promise.race([act(deps, shard), silence]);
  } catch (error) {
    shard.noteFailure?.(error);
    throw error;
  } finally {
    clearInterval(probing);
  }
}

/** Ends with the first probe that succeeds. */
function noteSilence(shard: Shard, db: Database): void {
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
  const asked = probe(db.within(PROBE_MS)).then(
    () => null,
    (error: unknown) => error as Error,
  );
  probes.set(
    db,
    asked.finally(() => probes.delete(db)),
  );
  return asked;
}
