import { Busy, PartnerError } from "../domain/errors.ts";
import { mergePages, type Order, type Page, type PageRequest } from "../domain/page.ts";
import { isUnavailable } from "../postgres/database.ts";
import type { Dependencies } from "./dependencies.ts";
import { type Ask, inReach, type Reach, toTheEnd } from "./reach.ts";
import { depsOf, type Shard, type Shards } from "./shards.ts";

interface Failure {
  shard: string;
  error: unknown;
}

/**
 * Changes a thing that belongs to one shard, such as a bare id. With several, `find` tells which one has it: the others throw
 * `not_found` or return null. If none has it, the home shard refuses the change.
 */
export async function anywhere<Result>(
  shards: Shards,
  find: (deps: Dependencies) => Promise<unknown>,
  change: Ask<Result>,
): Promise<Result> {
  const { home, others } = shards;
  if (others.length === 0) return change(depsOf(home), home);
  const place = findAnywhere(shards, async (deps, shard) => {
    if ((await find(deps)) === null)
      throw new PartnerError("not_found", "This shard does not have it.");
    return shard;
  });
  const found = await place.catch((error: unknown) => {
    if (isAbsent(error)) return home;
    throw error;
  });
  return toTheEnd(found, change);
}

/** Reads such a thing. If no shard has it, the error names the shards that did not answer. */
export async function findAnywhere<Result>(shards: Shards, read: Ask<Result>): Promise<Result> {
  if (shards.others.length === 0) return read(depsOf(shards.home), shards.home);
  const failures: Failure[] = [];
  const tries = shards.all.map((shard) => attempt(shard, read, { reach: inReach, failures }));
  return Promise.any(tries).catch(() => {
    throw mostTelling(failures);
  });
}

/**
 * Reads the same of every shard, in parallel. `away` names the shards that did not answer. Throws if none answers, or none has
 * the thing.
 */
export async function everywhere<Result>(
  shards: Shards,
  read: Ask<Result>,
): Promise<{ values: Result[]; away: string[] }> {
  const { home, others } = shards;
  if (others.length === 0) return { values: [await read(depsOf(home), home)], away: [] };
  const failures: Failure[] = [];
  const results = await Promise.allSettled(
    shards.all.map((shard) => attempt(shard, read, { reach: inReach, failures })),
  );
  const values = results.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const fault = failures.find(({ error }) => !isAway(error) && !isAbsent(error));
  if (fault && !(fault.error instanceof PartnerError)) throw fault.error;
  if (values.length === 0) throw mostTelling(failures);
  return { values, away: awayIn(failures) };
}

/** Changes the first shard that works, where any will do. The next one is tried after the change has failed. */
export async function somewhere<Result>(shards: Shards, change: Ask<Result>): Promise<Result> {
  if (shards.others.length === 0) return change(depsOf(shards.home), shards.home);
  const failures: Failure[] = [];
  for (const shard of shards.all) {
    try {
      return await attempt(shard, change, { reach: toTheEnd, failures });
    } catch (error) {
      if (!isAway(error)) throw error;
    }
  }
  throw mostTelling(failures);
}

/** Reads one page of a list that all shards have a part of. */
export async function pageEverywhere<Request extends PageRequest, Item>(
  shards: Shards,
  request: Request,
  read: (deps: Dependencies, request: Request) => Promise<Page<Item>>,
  order: Order = "descending",
): Promise<Page<Item>> {
  const { values, away } = await everywhere(shards, (deps) => read(deps, request));
  const [only, ...others] = values;
  const { limit } = request;
  const page = only && others.length === 0 ? only : mergePages(values, { limit, order });
  return lacking(away, page);
}

/** Names the shards that did not answer, if there are any. */
export function lacking<View extends object>(
  away: string[],
  view: View,
): View & { unavailable_shards?: string[] } {
  return away.length === 0 ? view : { ...view, unavailable_shards: away };
}

async function attempt<Result>(
  shard: Shard,
  act: Ask<Result>,
  { reach, failures }: { reach: Reach; failures: Failure[] },
): Promise<Result> {
  try {
    return await reach(shard, act);
  } catch (error) {
    failures.push({ shard: shard.name, error });
    throw error;
  }
}

/** A refusal by the thing's own shard tells the most. A thing may be in a shard that did not answer. */
function mostTelling(failures: Failure[]): unknown {
  const refusal = failures.find(({ error }) => !isAway(error) && !isAbsent(error));
  if (refusal) return refusal.error;
  const away = awayIn(failures);
  if (away.length > 0) return new Busy(`No answer from shard ${away.join(", ")}. Try again.`);
  return failures[0]?.error;
}

function awayIn(failures: Failure[]): string[] {
  return failures.flatMap(({ shard, error }) => (isAway(error) ? [shard] : [])).sort();
}

export function isAway(error: unknown): boolean {
  return error instanceof Busy || isUnavailable(error);
}

export function isAbsent(error: unknown): boolean {
  return error instanceof PartnerError && error.code === "not_found";
}
