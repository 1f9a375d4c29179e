import { ONLY_SHARD } from "../domain/api-key.ts";
import type { Queryable } from "./database.ts";

/** Writes the shard's name, unless the schema has one. Only a role that owns the schema may call it. */
export async function writeShard(db: Queryable, shard: string): Promise<void> {
  await db`insert into settings (name, value) values ('shard', ${shard}) on conflict do nothing`;
}

/** Returns the name of the shard that the schema belongs to. A schema without a name is older than shards. */
export async function findShard(db: Queryable): Promise<string> {
  const [row] = await db<{ value: string }[]>`select value from settings where name = 'shard'`;
  return row?.value ?? ONLY_SHARD;
}
