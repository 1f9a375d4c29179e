import { isObject } from "../../lib/objects.ts";
import type { Settings } from "../settings.ts";
import { type Message, SourceFault } from "../source.ts";
import type { Session } from "./session.ts";

/** The columns of an outbox that the bridge knows. Null: the table has none. */
export interface Columns {
  id: string;
  position: string;
  key: string | null;
  headers: string | null;
  traceparent: string | null;
  publishedAt: string | null;
  setAside: string;
}

export interface TableSettings {
  table: string;
  /** By the names above. An optional one that is not configured is used if the table has it. */
  columns: Readonly<Record<keyof Columns, string>>;
  configured: ReadonlySet<keyof Columns>;
  /** False: rows are deleted when their events are durable. */
  keeps: boolean;
}

const NAMES = {
  id: "id",
  position: "position",
  key: "key",
  headers: "headers",
  traceparent: "traceparent",
  publishedAt: "published_at",
  setAside: "set_aside",
} as const satisfies Record<keyof Columns, string>;

/** Replication marks nothing: the position of its slot says what is published. */
export function readTableSettings(
  settings: Settings,
  reads: "rows" | "replication",
): TableSettings {
  const table = settings.text("table", "outbox");
  const given = settings.below("columns");
  const names = Object.entries(NAMES) as [keyof Columns, string][];
  const configured = new Set(names.filter(([, name]) => given.has(name)).map(([key]) => key));
  const columns = Object.fromEntries(
    names.map(([key, name]) => [key, given.text(name, key === "position" ? columnOf("id") : name)]),
  ) as Record<keyof Columns, string>;
  given.end();
  const keeps =
    reads === "rows" && settings.choice("when_published", ["mark", "delete"], "mark") === "mark";
  return { table, columns, configured, keeps };

  function columnOf(name: string): string {
    return given.text(name, name);
  }
}

/** An outbox as its database describes it. Names are quoted. */
export interface Table {
  oid: string;
  name: string;
  plainName: string;
  idType: string;
  columns: Columns;
  keeps: boolean;
  /** The condition of rows whose events are neither published nor set aside. */
  isOpen: string;
}

/** Throws one fault that names every column that is missing. */
export async function describe(session: Session, settings: TableSettings): Promise<Table> {
  const [row] = await session.query<Record<"oid" | "name" | "plain" | "columns", string>>(
    `select c.oid::text, format('%I.%I', n.nspname, c.relname) as name, n.nspname || '.' || c.relname as plain,
            (select json_object_agg(a.attname, json_build_array(quote_ident(a.attname), format_type(a.atttypid, -1)))
               from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.oid = to_regclass($1)`,
    [settings.table],
  );
  if (!row) throw new SourceFault(`there is no table ${settings.table}, or no right to see it`);
  const known = new Map(
    Object.entries(JSON.parse(row.columns) as Record<string, [quoted: string, type: string]>),
  );
  const columns = columnsOf(settings, row.name, (name) => known.get(name)?.[0] ?? null);
  return {
    oid: row.oid,
    name: row.name,
    plainName: row.plain,
    idType: known.get(settings.columns.id)?.[1] ?? "text",
    columns,
    keeps: settings.keeps,
    isOpen: isOpenIf(columns),
  };
}

/** Throws one fault that names every column that is missing. `quoted` returns null for a column that the table does not have. */
export function columnsOf(
  settings: TableSettings,
  table: string,
  quoted: (column: string) => string | null,
): Columns {
  const missing: string[] = [];
  const find = (name: keyof Columns) => quoted(settings.columns[name]);
  const required = (name: keyof Columns) => {
    const found = find(name);
    if (found === null) missing.push(settings.columns[name]);
    return found ?? "";
  };
  const optional = (name: keyof Columns) =>
    settings.configured.has(name) ? required(name) : find(name);
  const columns: Columns = {
    id: required("id"),
    position: required("position"),
    key: optional("key"),
    headers: optional("headers"),
    traceparent: optional("traceparent"),
    publishedAt: settings.keeps ? required("publishedAt") : null,
    setAside: required("setAside"),
  };
  if (missing.length > 0) {
    const names = missing.map((name) => `"${name}"`).join(", ");
    throw new SourceFault(`the table ${table} has no column ${names}: see \`columns\``);
  }
  return columns;
}

export function isOpenIf({ publishedAt, setAside }: Columns): string {
  const isUnpublished = publishedAt === null ? "" : `${publishedAt} is null and `;
  return `${isUnpublished}${setAside} is null`;
}

export interface OutboxMessage extends Message {
  id: string;
}

export interface OutboxRow {
  id: string | null;
  key: string | null;
  headers: string | null;
  traceparent: string | null;
  /** The whole row as JSON. */
  document: string;
}

/** A row without a key has no order to keep. A table without keys keeps the order of all its rows. */
export function toMessage(
  row: OutboxRow,
  { name, columns }: Pick<Table, "name" | "columns">,
): OutboxMessage {
  const id = row.id ?? "";
  return {
    id,
    identity: row.id === null ? null : `${name}:${id}`,
    lane: columns.key === null ? "" : row.key === null ? `row ${id}` : `key ${row.key}`,
    body: row.document,
    headers: headersOf(row),
    from: row.key === null ? {} : { key: row.key },
  };
}

/** A row without an id cannot be marked, and the second one with an id would be a duplicate of the first. */
export function requireIds(
  rows: readonly OutboxRow[],
  { name, columns }: Pick<Table, "name" | "columns">,
): void {
  const ids = new Set(rows.map(({ id }) => id));
  if (!ids.has(null) && ids.size === rows.length) return;
  throw new SourceFault(
    `rows of ${name} have no ${columns.id} of their own: two of them would be one event`,
  );
}

function headersOf({ headers, traceparent }: OutboxRow): Map<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of Object.entries(objectIn(headers ?? "{}"))) {
    found.set(name.toLowerCase(), typeof value === "string" ? value : JSON.stringify(value));
  }
  if (traceparent !== null) found.set("traceparent", traceparent);
  return found;
}

/** A text that is no JSON, or another value than an object, has no members. */
function objectIn(text: string): object {
  try {
    const value = JSON.parse(text) as unknown;
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/**
 * Marks or deletes the rows of durable events. Nobody waits until that is on disk: the row of a mark that a crash of the server
 * loses comes again, and is a duplicate.
 */
export async function settle(
  session: Session,
  table: Table,
  ids: readonly string[],
  now: Date,
): Promise<void> {
  const { name, columns } = table;
  const returning = "returning set_config('synchronous_commit', 'off', true)";
  if (columns.publishedAt === null) {
    await change(session, table, { verb: `delete from ${name}`, returning }, ids);
  } else {
    const verb = `update ${name} set ${columns.publishedAt} = $2`;
    await change(session, table, { verb, returning }, ids, now);
  }
}

/** Writes the reason into the row. Returns false if the row is gone. */
export async function markSetAside(
  session: Session,
  table: Table,
  id: string,
  reason: string,
): Promise<boolean> {
  const verb = `update ${table.name} set ${table.columns.setAside} = $2`;
  return (await change(session, table, { verb, returning: "returning 1" }, [id], reason)) > 0;
}

/** Throws a fault if a row stays open, because it would be published again and again. Returns how many rows were there. */
async function change(
  session: Session,
  { name, columns, idType, isOpen }: Table,
  { verb, returning }: { verb: string; returning: string },
  ids: readonly string[],
  ...values: unknown[]
): Promise<number> {
  const which = `${columns.id} = any($1::text[]::${idType}[])`;
  const { length: changed } = await session.queryOften(`${verb} where ${which} ${returning}`, [
    ids,
    ...values,
  ]);
  if (changed === ids.length) return changed;
  const open = `select from ${name} where ${which} and ${isOpen} limit 1`;
  if ((await session.query(open, [ids])).length > 0) throw stayOpen(name);
  return changed;
}

/** Of rows that would be published again and again. */
export function stayOpen(name: string): SourceFault {
  return new SourceFault(
    `rows of ${name} stay open after their update, as with a trigger or a row-level policy`,
  );
}

/** The largest lag that is counted exactly. */
export const LAG_MAX = 100_000;

export async function countOpen(session: Session, { name, isOpen }: Table): Promise<number> {
  const [row] = await session.query<{ count: string }>(
    `select count(*) from (select from ${name} where ${isOpen} limit ${LAG_MAX}) as open`,
  );
  return Number(row?.count);
}

/** Throws a fault that names the rights that the session's role lacks. */
export async function requireRights(session: Session, table: Table): Promise<void> {
  const { columns, keeps, oid } = table;
  const written = [columns.setAside, columns.publishedAt].filter((name) => name !== null);
  const rights = [["select", `has_table_privilege(${oid}::oid, 'select')`]];
  for (const name of written) {
    const column = `(select attnum from pg_attribute where attrelid = ${oid} and quote_ident(attname) = '${name.replaceAll("'", "''")}')`;
    rights.push([`update of ${name}`, `has_column_privilege(${oid}::oid, ${column}, 'update')`]);
  }
  if (!keeps) rights.push(["delete", `has_table_privilege(${oid}::oid, 'delete')`]);
  const [row = {}] = await session.query<Record<string, string>>(
    `select ${rights.map(([, test], i) => `${test ?? ""}::text as r${i}`).join(", ")}`,
  );
  const missing = rights.filter((_, i) => row[`r${i}`] !== "true").map(([right]) => right);
  if (missing.length > 0) {
    throw new SourceFault(`the role lacks the right ${missing.join(", ")} on ${table.name}`);
  }
}
