import { escapeIdentifier, escapeLiteral } from "pg";
import { arrayText } from "../array-text.ts";
import type { Queryable } from "../database.ts";

/** A table with rows of its own: an ordinary one, a partition, or one that is detached. */
export interface MovedTable {
  /** A table that is dropped and made anew has another one. */
  oid: string;
  name: string;
  columns: string[];
  /** The table of which it is a partition or whose columns a detached one has. Null: it is of the schema from its first day. */
  parent: string | null;
  /** `FOR VALUES …`. Null if it is no partition. */
  bound: string | null;
  /** The columns of its primary key. */
  key: string[];
  /** True if it has a key and no foreign one, and none leads to it, so that it can be copied at a moment of its own. */
  standsAlone: boolean;
}

/** The tables that belong to the place, not to the shard. `moved_changes` is of version 1.0.0. */
const OF_THE_PLACE = ["schema_migrations", "moved_rows", "moved_changes"];
/** Settings that say whether a place is in force. */
const MARKS = ["moving", "arriving", "moved", "moved_to"];

/** Returns the tables of a shard: referenced ones first, then the oldest history. */
export async function listTables(db: Queryable): Promise<MovedTable[]> {
  return db<MovedTable[]>`
    with recursive referring (oid, level) as (
      select oid, 0 from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r'
       union
      select f.conrelid, level + 1
        from referring join pg_constraint f on f.confrelid = referring.oid and f.contype = 'f')
    select c.oid::text as oid, c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound,
           coalesce(parent.relname, original.relname) as parent,
           coalesce(k.key, '{}') as key,
           k.key is not null and c.relname <> 'settings' and not exists (
             select from pg_constraint where contype = 'f' and c.oid in (conrelid, confrelid)) as "standsAlone",
           (select array_agg(attname::text order by attnum) from pg_attribute
             where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns
      from pg_class c
      left join pg_inherits i on i.inhrelid = c.oid
      left join pg_class parent on parent.oid = i.inhparent
      left join history_exports e on e.partition = c.relname
      left join history_partitions h on h.partition = c.oid
      left join lateral (
             select o.relname from history t join pg_class o on o.oid = t.relation
              where e.partition like replace(o.relname, '_', '\\_') || '\\_%') original on true
      left join lateral (
             select array_agg(attname::text) as key from pg_index join pg_attribute on attrelid = indrelid and attnum = any (indkey)
              where indrelid = c.oid and indisprimary) k on true
     where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
       and not c.relname = any (${arrayText(OF_THE_PLACE)}::text::text[])
     order by (select max(level) from referring where referring.oid = c.oid), h.until, c.relname`;
}

/** All rows of a table, or those whose keys were noted. */
export type Rows = "all" | "noted";

/** Returns the statements that copy rows out of one place and into the other. */
export function copyStatements(table: MovedTable, rows: Rows): { out: string; into: string } {
  const list = table.columns.map(escapeIdentifier).join(", ");
  return {
    out: `copy (select ${list} from ${rowsOf(table, rows)}) to stdout`,
    into: `copy ${escapeIdentifier(table.name)} (${list}) from stdin`,
  };
}

/** The statements that copy the keys of changed rows. */
export const NOTED = {
  out: "copy (select distinct name, key from moved_rows) to stdout",
  into: "copy moved_rows (name, key) from stdin",
};

/** The number of rows, and a checksum that does not depend on their order. */
export interface Digest {
  rows: string;
  checksum: string;
}

/** Reads all these rows. */
export async function digest(db: Queryable, table: MovedTable, rows: Rows): Promise<Digest> {
  const list = table.columns.map(escapeIdentifier).join(", ");
  const [row] = await db.unsafe(`
    select count(*)::text as rows, coalesce(sum(hashtextextended(row(${list})::text, 0)), 0)::text as checksum
      from ${rowsOf(table, rows)}`);
  return row as Digest;
}

/** Deletes the noted rows and returns their number. */
export async function deleteNoted(db: Queryable, table: MovedTable): Promise<number> {
  return (await db.unsafe(`delete from ${rowsOf(table, "noted")}`)).count;
}

function rowsOf({ name, key }: MovedTable, rows: Rows): string {
  const table = escapeIdentifier(name);
  if (name === "settings") {
    return `only ${table} where name not in (${MARKS.map(escapeLiteral).join(", ")})`;
  }
  if (rows === "all") return `only ${table}`;
  const columns = key.map(escapeIdentifier);
  return `only ${table} where (${columns.join(", ")}) in (
    select ${columns.map((column) => `noted.${column}`).join(", ")}
      from moved_rows, jsonb_populate_record(null::${table}, moved_rows.key) as noted
     where moved_rows.name = ${escapeLiteral(name)})`;
}

/** The bounds that PostgreSQL writes for our partitions. The old place chooses the text, and the new one runs it. */
const BOUND = /^(?:DEFAULT|FOR VALUES FROM \('[\w .:+-]+'\) TO \('[\w .:+-]+'\))$/;

/** Creates a partition, or a table that was one. */
export async function createTable(db: Queryable, table: MovedTable): Promise<void> {
  const { name, parent, bound } = table;
  if (parent === null) throw new Error(`the table ${name} is not part of this program's schema`);
  if (bound !== null && !BOUND.test(bound))
    throw new Error(
      `the partition ${name} was not created by this program: remove it from the old schema, and run the move again`,
    );
  const [own, of] = [escapeIdentifier(name), escapeIdentifier(parent)];
  await db.unsafe(
    bound === null
      ? `create table ${own} (like ${of} including all)`
      : `create table ${own} partition of ${of} ${bound}`,
  );
}

export async function dropTable(db: Queryable, name: string): Promise<void> {
  await db`drop table ${db(name)}`;
}

/** Empties tables of a place that is not in force, all at once because some refer to others. */
export async function emptyTables(db: Queryable, tables: MovedTable[]): Promise<void> {
  if (tables.length > 0) await db`truncate only ${db(tables.map(({ name }) => name))}`;
}

/** Gathers statistics for the planner. */
export async function analyze(db: Queryable): Promise<void> {
  const tables = await db<{ name: string }[]>`
    select c.relname as name from pg_class c
     where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition`;
  await db.unsafe(`analyze ${tables.map(({ name }) => escapeIdentifier(name)).join(", ")}`);
}
