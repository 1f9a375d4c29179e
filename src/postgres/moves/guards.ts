import { escapeIdentifier, escapeLiteral } from "pg";
import { isUnavailable, type Queryable } from "../database.ts";
import type { MovedTable } from "./tables.ts";

/** Lets one move at a time work on a schema. Returns false if another one does. The lock ends with the session. */
export async function lockMove(db: Queryable): Promise<boolean> {
  const [row] = await db<[{ locked: boolean }]>`
    select pg_try_advisory_lock(hashtext('partner-api move of ' || current_schema())) as locked`;
  return row.locked;
}

/** Lets one move at a time fill a schema. Returns false if another one does. The lock ends with the session. */
export async function lockArrival(db: Queryable): Promise<boolean> {
  const [row] = await db<[{ locked: boolean }]>`
    select pg_try_advisory_lock(hashtext('partner-api move to ' || coalesce(current_schema(), ''))) as locked`;
  return row.locked;
}

/**
 * Keeps one table from being dropped, detached or renamed until the transaction ends. Not `lock_partitions`: nobody could create
 * partitions meanwhile, and a copy may take hours.
 */
export async function keepTable(db: Queryable, name: string): Promise<void> {
  await db.unsafe(`lock table only ${escapeIdentifier(name)} in access share mode`);
}

/** How long to wait for a lock. A writer that we wait for may wait for us, and others queue behind. */
const LOCK_MS = 300;

/** Returns how long a move waits for the writers' locks, in ms: at first shortly, because writers wait meanwhile. */
export async function lockWaits(db: Queryable): Promise<number[]> {
  const [row] = await db<[{ ms: number }]>`
    select setting::int as ms from pg_settings where name = 'deadlock_timeout'`;
  // Only a session that has waited for `deadlock_timeout` makes autovacuum give way.
  return [...Array<number>(50).fill(LOCK_MS), ...Array<number>(10).fill(row.ms + 1_000)];
}

/** Stops all writers of the tables until the transaction ends. Readers go on. Throws if not all locks are free in time. */
export async function stopWriters(db: Queryable, waitMs: number): Promise<void> {
  const tables = await db<{ name: string }[]>`
    select relname as name from pg_class
     where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
     order by relname`;
  await db.unsafe(`set local statement_timeout = ${waitMs}`); // Of all locks together.
  await db.unsafe(
    `lock table ${tables.map(({ name }) => escapeIdentifier(name)).join(", ")} in exclusive mode`,
  );
  await db`set local statement_timeout = 0`;
}

const NOTING = "hashtext('partner-api notes of ' || current_schema())";

/**
 * Makes a table for the keys of rows that change after they were copied. The triggers write to it while this session lasts, so that
 * a move that was killed leaves nothing that grows. It has no unique key, because writers must not wait for each other.
 */
export async function beginNoting(db: Queryable): Promise<void> {
  const schema = await findSchema(db);
  await db.unsafe(`
    create unlogged table if not exists moved_rows (name text not null check (length(name) <= 63), key jsonb not null);
    create or replace function note_moved_row() returns trigger
    language plpgsql security definer set search_path = ${schema}, pg_temp as $$
    begin
      if not pg_try_advisory_xact_lock_shared(${NOTING}) then
        insert into moved_rows (name, key)
        select distinct tg_table_name, (select jsonb_object_agg(part, changed -> part) from unnest(tg_argv) as part)
          from unnest(array[to_jsonb(old), to_jsonb(new)]) as changed
         where changed is not null;
      end if;
      return null;
    end
    $$;
    revoke execute on function note_moved_row from public`);
  await db.unsafe(`select pg_advisory_lock(${NOTING})`); // Waits for transactions whose changes are not noted.
  await forgetNoted(db);
}

/** From now on notes the rows of the table that change. Returns once all earlier changes are committed. */
export async function noteChanges(db: Queryable, { name, key }: MovedTable): Promise<void> {
  await db.unsafe(`
    set lock_timeout = '2s';
    create or replace trigger note_moved_row after insert or update or delete on ${escapeIdentifier(name)}
      for each row execute function note_moved_row(${key.map(escapeLiteral).join(", ")});
    reset lock_timeout`);
}

/** Forgets the noted rows that this transaction sees. */
export async function forgetNoted(db: Queryable): Promise<void> {
  await db`delete from moved_rows`;
}

/** Makes a place for noted rows until the session ends. */
export async function expectNoted(db: Queryable): Promise<void> {
  await db`create temporary table moved_rows (name text, key jsonb)`;
}

/** Returns the tables of the noted rows, with their numbers. */
export async function countNoted(db: Queryable): Promise<{ name: string; count: number }[]> {
  return db<{ name: string; count: number }[]>`
    select name, count(*)::int as count from moved_rows group by name`;
}

/** Ends the noting of one table. Throws if it is in use for long. */
export async function endNoting(db: Queryable, { name }: MovedTable): Promise<void> {
  await db.unsafe(`
    set lock_timeout = ${LOCK_MS};
    drop trigger if exists note_moved_row on ${escapeIdentifier(name)};
    reset lock_timeout`);
}

const MOVED = "the shard has moved to";

/** Returns true if `refuseWrites` refused a write. Its message names the new place. */
export function hasMoved(error: unknown): error is Error {
  return isUnavailable(error) && (error as Error).message.startsWith(MOVED);
}

/**
 * Refuses all writes to the schema, also those of its owner, with the code of a read-only server. So a service that still uses the
 * old place answers 503, sends nothing, and its log names the new place.
 */
export async function refuseWrites(db: Queryable, to: string): Promise<void> {
  await db.unsafe(`
    create or replace function refuse_after_move() returns trigger language plpgsql as $$
    begin
      raise exception using message = ${escapeLiteral(`${MOVED} ${to}`)}, errcode = 'read_only_sql_transaction';
    end
    $$`);
  const tables = await db<{ name: string }[]>`
    select relname as name from pg_class
     where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') order by relname`;
  for (const { name } of tables) {
    await db.unsafe(`
      create or replace trigger refuse_after_move before insert or update or delete or truncate on ${escapeIdentifier(name)}
        for each statement execute function refuse_after_move()`);
  }
}

async function findSchema(db: Queryable): Promise<string> {
  const [row] = await db<[{ schema: string }]>`select current_schema() as schema`;
  return escapeIdentifier(row.schema);
}
