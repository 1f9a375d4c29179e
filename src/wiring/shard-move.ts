import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../config.ts";
import type { Moved } from "../commands/context.ts";
import {
  connect,
  hasNoTable,
  isDeadlock,
  isTimedOut,
  openSession,
  type Queryable,
  type Session,
} from "../postgres/database.ts";
import { findPendingMigrations, migrate, ownsSchema } from "../postgres/migrate.ts";
import {
  lockArrival,
  lockMove,
  lockWaits,
  refuseWrites,
  stopWriters,
} from "../postgres/moves/guards.ts";
import {
  clearSettings,
  findMarks,
  isTaken,
  markArriving,
  markMoved,
  markMoving,
  newMove,
  shardOfMove,
  unmarkArriving,
} from "../postgres/moves/marks.ts";
import { analyze, emptyTables, listTables } from "../postgres/moves/tables.ts";
import { requireSessions } from "../postgres/pooler.ts";
import { findShard } from "../postgres/shard-name.ts";
import { MIGRATION_MS } from "./database.ts";
import { copyInService, copyRest, forgetNotes, type Places } from "./shard-copy.ts";

const NAME = "partner-api shard move";

/**
 * Copies the shard to another server and marks the old place as left. Until that commit, the old place is in force: if this process
 * ends before, its locks end with its connections, and the next move begins again. From that commit on, neither place accepts
 * until the new one is unmarked. A move that ended between the two is completed by the next one.
 */
export async function moveShard(
  config: Config,
  to: string,
  say: (message: string) => void,
): Promise<Moved> {
  const from = config.migrationDatabaseUrl ?? config.databaseUrl;
  if (from === null)
    throw new Error("the built-in database cannot move: set DATABASE_URL or SHARDS");
  await requireSessions("--to", to);
  const places = { old: await openSession(from, NAME) } as Places;
  try {
    places.new = await openSession(to, NAME);
    return await move(places, config.shard, to, say);
  } finally {
    await Promise.all([places.old.end(), (places.new as Session | undefined)?.end()]);
  }
}

async function move(
  places: Places,
  shard: string,
  url: string,
  say: (message: string) => void,
): Promise<Moved> {
  const [old, next] = [places.old.sql, places.new.sql];
  const to = placeOf(url);
  if (!(await lockMove(old))) throw new Error(`shard ${shard} is being moved already`);
  if (!(await lockArrival(next))) {
    throw new Error(
      "another move to the schema of --to is running: wait for it, or name another schema",
    );
  }
  const [left, entered] = [await findMarks(old), await findMarks(next)];
  if (left.moved !== null) {
    if (left.moved !== entered.arriving) {
      throw new Error(`shard ${shard} has moved to ${left.movedTo}: name the new place in its URL`);
    }
    if (!(await isTaken(next))) {
      throw new Error(
        "the copy at --to is incomplete: keep the schema at the old place, because only that one has all rows",
      );
    }
    await unmarkArriving(next, left.moved);
    say("the earlier move is completed");
    return { shard, to, tables: 0, rows: 0, waited_ms: 0 };
  }
  if (left.arriving !== null)
    throw new Error(
      `shard ${shard}: its URL leads to a copy whose move has not ended. Set it to the place that the service uses`,
    );
  await requireMovable(places, shard);
  const id = await requireOwn(next, { own: left.moving, arriving: entered.arriving, shard });
  await markMoving(old, id);
  await enter(next, { url, id, isNew: entered.arriving === null });
  await requireSameSchema(places);
  const ofSettings = ({ name }: { name: string }) => name === "settings";
  const there = await listTables(next);
  await emptyTables(
    next,
    there.filter((table) => !ofSettings(table)),
  );
  await clearSettings(next);
  say("tables are copied while the shard is in service");
  const copied = await copyInService(places, say);

  say("the rest is copied while writers wait");
  let moved: Moved;
  try {
    moved = await whileWritersWait(places, async (since) => {
      await requireSameSchema(places);
      const { tables, rows } = await copyRest(places, copied);
      await markMoved(old, { move: id, to });
      await refuseWrites(old, to);
      return { shard, to, tables, rows, waited_ms: Math.round(performance.now() - since) };
    });
  } catch (error) {
    if ((await findMarks(old).catch(() => null))?.moved === null) await forgetNotes(places, copied);
    throw error;
  }
  await unmarkArriving(next, id);
  await analyze(next);
  return moved;
}

/**
 * Returns the id of a move that may empty the new place. Throws if the place holds a shard, or the copy of any move but the own
 * one: that copy may be the only one that is valid.
 */
async function requireOwn(
  next: Queryable,
  { own, arriving, shard }: { own: string | null; arriving: string | null; shard: string },
): Promise<string> {
  if (arriving === null) {
    if (!(await isTaken(next))) return newMove(shard);
    throw new Error(HOLDS_A_SHARD);
  }
  if (arriving === own) return arriving;
  throw new Error(
    `a move of shard ${shardOfMove(arriving)} to the schema of --to has not ended, and the schema may hold its only valid copy: ` +
      "run that move again, or name another schema",
  );
}

const HOLDS_A_SHARD = "--to leads to a schema that holds a shard: name an empty one";

/** Commits the work at the old place. */
async function whileWritersWait<Result>(
  { old }: Places,
  work: (since: number) => Promise<Result>,
): Promise<Result> {
  for (const waitMs of await lockWaits(old.sql)) {
    const writers = { wait: false };
    try {
      return await old.begin(async () => {
        const since = performance.now();
        await stopWriters(old.sql, waitMs);
        writers.wait = true;
        return work(since);
      });
    } catch (error) {
      if (writers.wait || !mayPass(error)) throw error;
      await sleep(waitMs); // Writers get on.
    }
  }
  throw new Error(
    "other sessions used the shard's tables for too long, so the shard stays where it was: end them, or wait, and run the move again",
  );
}

/** Returns true if the next try may get the locks. A table may have expired since the tables were listed. */
function mayPass(error: unknown): boolean {
  return isTimedOut(error) || isDeadlock(error) || hasNoTable(error);
}

async function requireMovable({ old }: Places, shard: string): Promise<void> {
  const found = await findShard(old.sql);
  if (found.shard !== shard) throw new Error(`the schema is that of shard ${found.shard}`);
  const pending = await findPendingMigrations(old.sql);
  if (pending.length > 0)
    throw new Error("the schema is not up to date: run `partner-api migrate`");
  if (!(await ownsSchema(old.sql))) {
    throw new Error("the role does not own the schema: set MIGRATION_DATABASE_URL");
  }
}

/** Throws if a newer release has changed the schema, because this one does not know its tables. */
async function requireSameSchema(places: Places): Promise<void> {
  const [old, next] = await Promise.all(
    [places.old, places.new].map(
      ({ sql }) => sql`select version from schema_migrations order by version`,
    ),
  );
  if (JSON.stringify(old) === JSON.stringify(next)) return;
  throw new Error(
    "the two places have different migrations: run the move with the release of the service",
  );
}

/**
 * Makes the new schema, and marks it with its first migration, so that a service that starts there is refused. One that started
 * before the mark may have accepted events, so the place stays its own.
 */
async function enter(
  next: Queryable,
  { url, id, isNew }: { url: string; id: string; isNew: boolean },
): Promise<void> {
  const owner = connect(url, { max: 1, name: NAME, silenceMs: MIGRATION_MS });
  try {
    await migrate(owner, { beside: (tx) => markArriving(tx, id) });
  } finally {
    await owner.end({ timeout: 5 });
  }
  await markArriving(next, id); // A schema without a shard may have all migrations.
  if (!isNew || !(await isTaken(next))) return;
  await unmarkArriving(next, id);
  throw new Error(HOLDS_A_SHARD);
}

/** Returns a URL without its credentials. */
function placeOf(url: string): string {
  return url.replace(/^(\w+:\/\/)(?:[^@/]*@)?([^?]*).*$/s, "$1$2");
}
