import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createPartitions } from "../../src/jobs/maintenance-sql.ts";
import type { Database } from "../../src/postgres/database.ts";
import { PUBLISHER_ROLE } from "../../src/schema/rights.ts";

/**
 * The databases of one run of the tests. To empty one takes a hundredth of the CPU of a new one, so a process uses its
 * databases again, and leaves them to the next one when it ends. Until then nobody else has them, because the programs of a
 * test may end after its database was returned.
 */
export interface LentDatabase {
  server: string;
  name: string;
  password: string;
  /** The time for which it has partitions. */
  era: string;
  /** What it was like when it was new. */
  fresh: State;
}

interface State {
  /** Everything but rows: tables, rights, functions, settings, the role. */
  shape: string;
  tables: string[];
  rows: Record<string, unknown>;
  bytes: number;
}

/** A database that has grown further is not worth emptying. */
const GROWTH_MAX = 4 * 1024 * 1024;

/** Where processes leave databases to each other. Without it, each drops its own. */
const FOLDER = process.env["TEST_DATABASES"];

const returned: LentDatabase[] = [];

process.on("exit", () => {
  for (const one of returned) renameSync(lentFile(one), join(freeFolder(one), one.name));
});

/** A database that nobody uses any more, as it was left. */
export function borrow(wanted: Kind): LentDatabase | null {
  const own = returned.findIndex((one) => freeFolder(one) === freeFolder(wanted));
  if (own !== -1) return returned.splice(own, 1)[0] ?? null;
  if (FOLDER === undefined || !existsSync(freeFolder(wanted))) return null;
  for (const name of readdirSync(freeFolder(wanted))) {
    try {
      renameSync(join(freeFolder(wanted), name), join(FOLDER, "lent", name));
    } catch {
      continue; // Another process was faster.
    }
    return JSON.parse(readFileSync(join(FOLDER, "lent", name), "utf8")) as LentDatabase;
  }
  return null;
}

/** Notes a new database. Returns false if there is no one to lend it to. */
export function note(one: LentDatabase): void {
  if (FOLDER === undefined) return;
  for (const folder of [join(FOLDER, "lent"), freeFolder(one)]) {
    mkdirSync(folder, { recursive: true });
  }
  writeFileSync(lentFile(one), JSON.stringify(one));
}

/** Returns false if the database must be dropped. */
export function giveBack(one: LentDatabase): boolean {
  if (FOLDER !== undefined) returned.push(one);
  return FOLDER !== undefined;
}

export async function forget(one: LentDatabase): Promise<void> {
  if (FOLDER !== undefined) await rm(lentFile(one), { force: true });
}

function lentFile({ name }: LentDatabase): string {
  return join(FOLDER ?? "", "lent", name);
}

export type Kind = Pick<LentDatabase, "server" | "era">;

function freeFolder({ server, era }: Kind): string {
  const kind = createHash("sha256").update(`${server} ${era}`).digest("hex").slice(0, 16);
  return join(FOLDER ?? "", kind);
}

/** Makes the database as it was when it was new. Returns false if that does not succeed: for example, if its schema differs. */
export async function renew(owner: Database, { era, fresh }: LentDatabase): Promise<boolean> {
  try {
    await endSessions(owner);
    const kept = await dropAdded(owner, fresh.tables);
    await restoreRows(owner, kept, fresh.rows); // Before partitions are created, whose width depends on the settings.
    if (kept.length < fresh.tables.length) await createPartitions(owner, new Date(era));
    await withdrawPublisher(owner);
    const { shape, bytes } = await stateOf(owner);
    return shape === fresh.shape && bytes < fresh.bytes + GROWTH_MAX;
  } catch {
    return false;
  }
}

/** Also what a killed program left: its server process may still run, or wait. */
async function endSessions(owner: Database): Promise<void> {
  await owner`
    select pg_terminate_backend(pid, 5000) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;
}

/** Services create and drop partitions. Returns the tables that are left. */
async function dropAdded(owner: Database, before: string[]): Promise<string[]> {
  const now = await tablesOf(owner);
  const added = now.filter((name) => !before.includes(name));
  if (added.length > 0) await owner.unsafe(`drop table ${added.join(", ")}`);
  return now.filter((name) => before.includes(name));
}

/** The start of a service lets the role of publishers use the schema, if there is such a role. */
async function withdrawPublisher(owner: Database): Promise<void> {
  const [role] = await owner`select from pg_roles where rolname = ${PUBLISHER_ROLE}`;
  if (!role) return;
  await owner`revoke usage on schema public from ${owner(PUBLISHER_ROLE)}`;
  await owner`revoke execute on all functions in schema public from ${owner(PUBLISHER_ROLE)}`;
}

/** Has partitions for this time only, so that a service's start neither creates nor drops any. */
export async function moveTo(owner: Database, era: string): Promise<void> {
  const partitions = (await tablesOf(owner)).filter((name) => /_\d{8}_\d{6}$/.test(name));
  await owner.unsafe(`drop table ${partitions.join(", ")}`);
  await createPartitions(owner, new Date(era));
}

async function tablesOf(owner: Database): Promise<string[]> {
  const rows = await owner<{ name: string }[]>`
    select oid::regclass::text as name from pg_class
    where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace
    order by oid desc`; // A table that refers to another one was created after it.
  return rows.map(({ name }) => name);
}

async function restoreRows(owner: Database, tables: string[], rows: State["rows"]): Promise<void> {
  const filled = await filledOf(owner, tables);
  for (const name of filled) await owner.unsafe(`delete from only ${name}`);
  for (const [name, all] of Object.entries(rows)) {
    await owner.unsafe(
      `insert into ${name} select * from json_populate_recordset(null::${name}, '${JSON.stringify(all).replaceAll("'", "''")}')`,
    );
  }
}

async function filledOf(owner: Database, tables: string[]): Promise<string[]> {
  const looks = tables.map((name, i) => `exists (select from only ${name}) as t${i}`);
  const [found = {}] = await owner.unsafe(`select ${looks.join(", ")}`);
  return tables.filter((_, i) => found[`t${i}`]);
}

export async function stateOf(owner: Database): Promise<State> {
  const tables = await tablesOf(owner);
  const rows: State["rows"] = {};
  for (const name of await filledOf(owner, tables)) {
    const [found] = await owner.unsafe(`select json_agg(t) as all from only ${name} as t`);
    rows[name] = found?.["all"];
  }
  const [{ shape, bytes }] = await owner<[{ shape: string; bytes: number }]>`
    select md5(concat_ws('#',
      (select string_agg(concat_ws(' ', c.relname, relkind, relowner, relacl, reloptions, relpersistence, relchecks,
          relrowsecurity, relreplident, pg_get_expr(relpartbound, c.oid)), e'\n' order by c.relname)
        from pg_class c where relnamespace = 'public'::regnamespace),
      (select string_agg(concat_ws(' ', attrelid::regclass, attnum, attname, atttypid, attnotnull, attacl, attoptions,
          attstattarget, pg_get_expr(adbin, adrelid)), e'\n' order by attrelid::regclass::text, attnum)
        from pg_attribute join pg_class c on c.oid = attrelid left join pg_attrdef on adrelid = attrelid and adnum = attnum
        where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v') and attnum > 0),
      (select string_agg(concat_ws(' ', indexrelid::regclass, indisvalid, pg_get_indexdef(indexrelid)), e'\n'
          order by indexrelid::regclass::text)
        from pg_index join pg_class c on c.oid = indexrelid where relnamespace = 'public'::regnamespace),
      (select string_agg(concat_ws(' ', conrelid::regclass, conname, convalidated, pg_get_constraintdef(oid)), e'\n'
          order by conrelid::regclass::text, conname)
        from pg_constraint where connamespace = 'public'::regnamespace),
      (select string_agg(concat_ws(' ', tgrelid::regclass, tgname, tgenabled), e'\n' order by tgrelid::regclass::text, tgname)
        from pg_trigger where not tgisinternal),
      (select string_agg(concat_ws(' ', oid::regprocedure, proowner, proacl, prosecdef, proconfig, prosrc), e'\n'
          order by oid::regprocedure::text)
        from pg_proc where pronamespace = 'public'::regnamespace),
      (select string_agg(concat_ws(' ', nspname, nspowner, nspacl), e'\n' order by nspname)
        from pg_namespace where nspname !~ '^pg_(toast_)?temp'),
      (select string_agg(concat_ws(' ', datacl, datconnlimit, datallowconn), e'\n')
        from pg_database where datname = current_database()),
      (select string_agg(r::text, e'\n' order by rolname) from pg_roles r where rolname = current_database()),
      (select string_agg(s::text, e'\n' order by s::text) from pg_db_role_setting s
        where setdatabase = (select oid from pg_database where datname = current_database())
          or setrole = (select oid from pg_roles where rolname = current_database())),
      (select string_agg(member::regrole || ' ' || roleid::regrole, e'\n' order by 1) from pg_auth_members
        where member = (select oid from pg_roles where rolname = current_database())),
      (select count(*) from pg_prepared_xacts where database = current_database()),
      (select count(*) from pg_publication), (select count(*) from pg_event_trigger), (select count(*) from pg_policy),
      (select count(*) from pg_default_acl), (select count(*) from pg_extension), (select count(*) from pg_largeobject_metadata)
    )) as shape, pg_database_size(current_database())::int as bytes`;
  return { shape, tables, rows, bytes };
}
