import { randomUUID } from "node:crypto";
import type { Queryable } from "../database.ts";

/** Whether a schema is in force. Apart from `movedTo`, the marks are ids of a move. */
export interface Marks {
  /** A move copies the shard from here, or did and failed. */
  moving: string | null;
  /** A move copies a shard to here, and has not ended. */
  arriving: string | null;
  /** The shard has left. */
  moved: string | null;
  /** Where it has gone, without credentials. */
  movedTo: string | null;
}

/** Returns the marks. A schema without our tables has none. */
export async function findMarks(db: Queryable): Promise<Marks> {
  const none = { moving: null, arriving: null, moved: null, movedTo: null };
  const [table] = await db`select to_regclass('settings') as name`;
  if (table?.["name"] === null) return none;
  const rows = await db<{ name: keyof Marks; value: string }[]>`
    select case name when 'moved_to' then 'movedTo' else name end as name, value
      from settings where name in ('moving', 'arriving', 'moved', 'moved_to')`;
  return { ...none, ...Object.fromEntries(rows.map(({ name, value }) => [name, value])) };
}

/** Returns true if the schema has data of a shard. */
export async function isTaken(db: Queryable): Promise<boolean> {
  const [table] = await db`select to_regclass('settings') as name`;
  if (table?.["name"] === null) return false;
  const [row] = await db<[{ taken: boolean }]>`
    select exists (select from settings where name = 'shard') or exists (select from organizations) as taken`;
  return row.taken;
}

/** Returns a new id of a move. It begins with the shard's name, for the error of another move to the same place. */
export function newMove(shard: string): string {
  return `${shard}/${randomUUID()}`;
}

export function shardOfMove(move: string): string {
  return move.slice(0, move.lastIndexOf("/"));
}

/** Notes at the old place which move is its own, so that the next one knows the mark at the new place. */
export async function markMoving(db: Queryable, move: string): Promise<void> {
  await db`
    insert into settings (name, value) values ('moving', ${move})
    on conflict (name) do update set value = excluded.value`;
}

/** Keeps services out of a new place until its shard is complete. Does not change the mark of another move. */
export async function markArriving(db: Queryable, move: string): Promise<void> {
  await db`
    insert into settings (name, value) values ('arriving', ${move}) on conflict (name) do nothing`;
}

/** Puts the new place in force. Only for a move whose old place is marked as left. */
export async function unmarkArriving(db: Queryable, move: string): Promise<void> {
  await db`delete from settings where name = 'arriving' and value = ${move}`;
}

export async function markMoved(
  db: Queryable,
  { move, to }: { move: string; to: string },
): Promise<void> {
  await db`insert into settings (name, value) values ('moved', ${move}), ('moved_to', ${to})`;
}

/** Removes all settings of a place that is not in force, except that a shard arrives. */
export async function clearSettings(db: Queryable): Promise<void> {
  await db`delete from settings where name <> 'arriving'`;
}
