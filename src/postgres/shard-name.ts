import type { Queryable } from "./database.ts";

/** Schemas without a name are older than shards, when every schema was this one. */
const FIRST = "00";

/** Writes the shard's name, unless the schema has one. Only a role that owns the schema may call it. */
export async function writeShard(db: Queryable, shard: string): Promise<void> {
  await db`insert into settings (name, value) values ('shard', ${shard}) on conflict do nothing`;
}

/** Returns the name of the shard that the schema belongs to. */
export async function findShard(db: Queryable): Promise<string> {
  const [row] = await db<{ value: string }[]>`select value from settings where name = 'shard'`;
  return row?.value ?? FIRST;
}
