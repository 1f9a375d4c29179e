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
  /** True if the time of its rows is over, so that they change seldom. */
  isPast: boolean;
}

/** The tables that belong to the place, not to the shard. */
const OF_THE_PLACE = ["schema_migrations", "moved_changes"];
/** Settings that say whether a place is in force. */
const MARKS = ["moving", "arriving", "moved", "moved_to"];
/** A row may be written this long after the time of its partition. */
const PAST_MS = 120_000;

/** Returns the tables of a shard, referenced ones first. */
export async function listTables(db: Queryable, now: Date): Promise<MovedTable[]> {
  const past = new Date(now.getTime() - PAST_MS);
  return db<MovedTable[]>`
    with recursive referring (oid, level) as (
      select oid, 0 from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r'
       union
      select f.conrelid, level + 1
        from referring join pg_constraint f on f.confrelid = referring.oid and f.contype = 'f')
    select c.oid::text as oid, c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound,
           coalesce(parent.relname, original.relname) as parent,
           coalesce(h.until < ${past}, original.relname is not null) as "isPast",
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
     where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
       and not c.relname = any (${arrayText(OF_THE_PLACE)}::text::text[])
     order by (select max(level) from referring where referring.oid = c.oid), c.relname`;
}

/** Returns the statements that copy the table out of one place and into the other. */
export function copyStatements({ name, columns }: MovedTable): { out: string; into: string } {
  const list = columns.map(escapeIdentifier).join(", ");
  const table = escapeIdentifier(name);
  return {
    out: `copy (select ${list} from only ${table}${condition(name)}) to stdout`,
    into: `copy ${table} (${list}) from stdin`,
  };
}

/** The number of rows, and a checksum that does not depend on their order. */
export interface Digest {
  rows: string;
  checksum: string;
}

/** Reads the table as a whole. */
export async function digest(db: Queryable, { name, columns }: MovedTable): Promise<Digest> {
  const list = columns.map(escapeIdentifier).join(", ");
  const [row] = await db.unsafe(`
    select count(*)::text as rows, coalesce(sum(hashtextextended(row(${list})::text, 0)), 0)::text as checksum
      from only ${escapeIdentifier(name)}${condition(name)}`);
  return row as Digest;
}

function condition(name: string): string {
  return name === "settings" ? ` where name not in (${MARKS.map(escapeLiteral).join(", ")})` : "";
}

/** The bounds that PostgreSQL writes for our partitions. The old place chooses the text, and the new one runs it. */
const BOUND = /^(?:DEFAULT|FOR VALUES FROM \('[\w .:+-]+'\) TO \('[\w .:+-]+'\))$/;

/** Creates a partition, or a table that was one. */
export async function createTable(db: Queryable, table: MovedTable): Promise<void> {
  const { name, parent, bound } = table;
  if (parent === null) throw new Error(`the table ${name} is not part of this program's schema`);
  if (bound !== null && !BOUND.test(bound))
    throw new Error(`${name} has bounds that this program does not write`);
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
