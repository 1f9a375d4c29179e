import type { Queryable } from "../database.ts";

/** Whether a schema is in force. Both marks are ids of a move. */
export interface Marks {
  /** A move copies a shard to here, and has not ended. */
  arriving: string | null;
  /** The shard has left. */
  moved: string | null;
  /** Where it has gone, without credentials. */
  moved_to: string | null;
}

/** Returns the marks. A schema without our tables has none. */
export async function findMarks(db: Queryable): Promise<Marks> {
  const none = { arriving: null, moved: null, moved_to: null };
  const [table] = await db`select to_regclass('settings') as name`;
  if (table?.["name"] === null) return none;
  const rows = await db<{ name: keyof Marks; value: string }[]>`
    select name, value from settings where name in ('arriving', 'moved', 'moved_to')`;
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

/** Keeps services out of a new place until its shard is complete. */
export async function markArriving(db: Queryable, move: string): Promise<void> {
  await db`
    insert into settings (name, value) values ('arriving', ${move})
    on conflict (name) do update set value = excluded.value`;
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
