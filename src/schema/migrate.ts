import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { type Database, hasNoColumn, isInUse, type Queryable } from "../postgres/database.ts";

const FOLDER = new URL("../../../src/postgres/migrations/", import.meta.url);

const NAME = /^\d{4}_\w+\.sql$/;

interface Migration {
  version: number;
  name: string;
}

/** Returns the migrations of this program, in order. */
async function listMigrations(): Promise<Migration[]> {
  const names = (await readdir(FOLDER)).filter((name) => NAME.test(name)).sort();
  return names.map((name) => ({ version: Number(name.slice(0, 4)), name }));
}

/** Returns the names of migrations that the database lacks. */
export async function findPendingMigrations(db: Queryable): Promise<string[]> {
  const applied = await listAppliedVersions(db);
  return (await listMigrations()).filter((m) => !applied.has(m.version)).map((m) => m.name);
}

interface MigrateOptions {
  /** Runs in the transaction of each migration, after it. */
  beside?: (tx: Queryable) => Promise<void>;
  /** Called once for each migration that waits for tables which other sessions use. */
  onWait?: (name: string) => void;
  /** How long a migration waits for a lock. Others queue behind it meanwhile. */
  lockMs?: number;
  /** The time between two tries, and their number. */
  pauseMs?: number;
  tries?: number;
}

/** Ten minutes of tries, in which other sessions wait for a fifth of the time at most. */
const PATIENCE = { lockMs: 1_000, pauseMs: 4_000, tries: 120 };

/**
 * Applies the missing migrations, each in its own transaction. Returns their names.
 *
 * It is safe if several processes start at once: they wait for one lock, and the later ones find nothing to do. A database that
 * is newer than this program is not changed. A migration whose tables are in use gives up soon and is tried again, because
 * everything that comes later would wait behind it.
 */
export async function migrate(db: Database, options: MigrateOptions = {}): Promise<string[]> {
  const { beside, onWait, lockMs, pauseMs, tries } = { ...PATIENCE, ...options };
  const names: string[] = [];
  for (const migration of await listMigrations()) {
    for (let left = tries; ; left--) {
      try {
        if (await apply(db, migration, { lockMs, beside })) names.push(migration.name);
        break;
      } catch (error) {
        if (!isInUse(error)) throw error;
        if (left <= 1) throw new Error(`${migration.name} ${IN_USE}`, { cause: error });
        if (left === tries) onWait?.(migration.name);
        await sleep(pauseMs);
      }
    }
  }
  return names;
}

const IN_USE =
  "was not applied: other sessions use its tables. " +
  "End the longest transactions in pg_stat_activity, then run it again";

/** Returns false if it is applied already. */
async function apply(
  db: Database,
  migration: Migration,
  { lockMs, beside }: { lockMs: number; beside: MigrateOptions["beside"] },
): Promise<boolean> {
  return db.begin(async (tx) => {
    await tx`set local statement_timeout = 0`; // The migrations of another process may take long.
    await lockSchema(tx);
    await requireFirst(tx);
    await tx`
      create table if not exists schema_migrations (
        version    integer     primary key,
        name       text        not null
      )`;
    if ((await listAppliedVersions(tx)).has(migration.version)) return false;
    await tx`select set_config('lock_timeout', ${String(lockMs)}, true)`;
    await tx.unsafe(await readFile(new URL(migration.name, FOLDER), "utf8"));
    await tx`insert into schema_migrations ${tx({ ...migration })}`;
    await beside?.(tx);
    return true;
  });
}

/** Throws if new tables would be in another schema than ours: `$user` may have come to name one. */
async function requireFirst(tx: Queryable): Promise<void> {
  const [row] = await tx<[{ ours: string; first: string }?]>`
    select quote_ident(nspname) as ours, current_schema() as first
      from pg_class c join pg_namespace n on n.oid = relnamespace
     where c.oid = to_regclass('schema_migrations') and nspname <> current_schema()`;
  if (row === undefined) return;
  throw new Error(
    `the tables are in the schema ${row.ours}, but search_path begins with ${row.first}: add search_path=${row.ours} to the URL`,
  );
}

async function listAppliedVersions(db: Queryable): Promise<Set<number>> {
  const [table] = await db`select to_regclass('schema_migrations') as name`;
  if (table?.["name"] === null) return new Set();
  try {
    const rows = await db<Migration[]>`select version, name from schema_migrations`;
    if (!rows.every(isOurs)) throw new Error(OTHERS);
    const ours = new Map((await listMigrations()).map(({ version, name }) => [version, name]));
    const isOthers = rows.some(({ version, name }) => (ours.get(version) ?? name) !== name);
    if (isOthers) throw new Error(UNPUBLISHED);
    return new Set(rows.map((row) => row.version));
  } catch (error) {
    throw hasNoColumn(error) ? new Error(OTHERS, { cause: error }) : error;
  }
}

/** Other tools have times as versions, and names of another form. */
function isOurs({ version, name }: Migration): boolean {
  return NAME.test(name) && Number(name.slice(0, 4)) === version;
}

/** A number has had one name since 1.0.0. */
const UNPUBLISHED =
  "the schema was made by a build from before 1.0.0 was published, and cannot be upgraded: " +
  "use an empty database, an empty schema that search_path of the URL names, or another DATA_DIR";

/** Many tools call their table so. */
const OTHERS =
  "the table schema_migrations is another application's: " +
  "create a schema for the service, and add its search_path to the URL";

/** Stores the retention for the owner's functions. Only a role that owns the schema may call it. */
export async function writeRetention(db: Queryable, retentionMs: number): Promise<void> {
  await db`
    insert into settings (name, value) values ('retention', ${`${retentionMs} milliseconds`})
    on conflict (name) do update set value = excluded.value`;
}

/** Returns the retention in ms. Null if none is stored. */
export async function findRetention(db: Queryable): Promise<number | null> {
  const [row] = await db<[{ ms: string | null }]>`
    select extract(epoch from retention()) * 1000 as ms`;
  return row.ms === null ? null : Number(row.ms);
}

/** Locks the schema against other changes until the transaction ends. */
export async function lockSchema(tx: Queryable): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtext('partner-api migrations of ' || current_schema()))`;
}

/** Returns true if this connection's role may change the schema. */
export async function ownsSchema(db: Queryable): Promise<boolean> {
  const [row] = await db<[{ owns: boolean }]>`
    select pg_has_role(relowner, 'usage') as owns from pg_class where oid = 'settings'::regclass`;
  return row.owns;
}
