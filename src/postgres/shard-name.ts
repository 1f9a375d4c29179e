import { ONLY_SHARD } from "../domain/api-key.ts";
import type { Queryable } from "./database.ts";

/** The name of a schema's shard, and of the shard that holds its slugs. */
export interface ShardNames {
  shard: string;
  /** Null until a role that owns the schema has written it. */
  home: string | null;
}

/**
 * Writes the names, unless the schema has them. While the schema has no organization, its home may still change, so that a wrong
 * order of the first start does no harm. Only a role that owns the schema may call it.
 */
export async function writeShard(
  db: Queryable,
  { shard, home }: { shard: string; home: string },
): Promise<void> {
  await db`
    insert into settings (name, value) values ('shard', ${shard}), ('home', ${home})
    on conflict (name) do update set value = excluded.value
     where settings.name = 'home' and settings.value <> excluded.value
       and not exists (select from organizations) and not exists (select from slugs)`;
}

/** Returns the names of the schema. A schema without a name is older than shards. */
export async function findShard(db: Queryable): Promise<ShardNames> {
  const rows = await db<{ name: string; value: string }[]>`
    select name, value from settings where name in ('shard', 'home')`;
  const names = new Map(rows.map(({ name, value }) => [name, value]));
  return { shard: names.get("shard") ?? ONLY_SHARD, home: names.get("home") ?? null };
}
