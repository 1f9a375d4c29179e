import { arrayText } from "./array-text.ts";
import { connect, type Database, type Queryable } from "./database.ts";
import { isMisplaced, POOLER_CURE } from "./driver/failure.ts";
import { readUrl } from "./driver/url.ts";
import { EFFECTIVE, type Settings } from "./session-settings.ts";

/** A pooler with few connections may let the second client wait. Then the check says nothing. */
const CHECK_MS = 5_000;
const CHECKING = { max: 1, name: "partner-api check" };

/**
 * Throws if the URL in `variable` says `pool_mode=session`, but the pooler lends each transaction another connection. The named
 * statements of one client would then meet those of another.
 */
export async function requireSessions(variable: string, url: string): Promise<void> {
  if (readUrl(url).poolMode !== "session" || (await mayLendSessions(url))) return;
  throw new Error(
    `${variable}: the URL says pool_mode=session, but the pooler is in transaction mode: ` +
      "set pool_mode=transaction, or set the pooler to session mode",
  );
}

/** Returns false if two clients share a connection, which a pooler in session mode never lets them do. */
async function mayLendSessions(url: string): Promise<boolean> {
  const [one, other] = [connect(url, CHECKING), connect(url, CHECKING)];
  try {
    const before = await findBackend(one.within(CHECK_MS));
    return await other.within(CHECK_MS).begin(async (tx) => {
      const lent = await findBackend(tx);
      const after = await findBackend(one.within(CHECK_MS));
      return lent !== before && after === before;
    });
  } catch (error) {
    return !isMisplaced(error); // The next statement meets any other fault, and its error names the remedy.
  } finally {
    await Promise.all([one.end({ timeout: 1 }), other.end({ timeout: 1 })]);
  }
}

async function findBackend(db: Queryable): Promise<number> {
  const [{ pid }] = await db<[{ pid: number }]>`select pg_backend_pid() as pid`;
  return pid;
}

/** The oldest supported version of PostgreSQL. */
const VERSION_MIN = 15;

/** The second one stores bytes as they come. */
const STORES_ALL = ["UTF8", "SQL_ASCII"];

/** Throws one error that names every fault if the server is too old, or the database cannot store every text of JSON. */
export async function requireServer(db: Queryable): Promise<void> {
  const { version, encoding } = await findServer(db);
  const faults: string[] = [];
  if (Number.parseInt(version) < VERSION_MIN)
    faults.push(`PostgreSQL ${version} is too old: ${VERSION_MIN} or newer is required`);
  if (!STORES_ALL.includes(encoding))
    faults.push(
      `the encoding of the database is ${encoding}, which cannot store every text of an event: ` +
        "create one with `encoding 'UTF8' template template0`",
    );
  if (faults.length > 0) throw new Error(faults.join("; "));
}

interface Server {
  version: string;
  encoding: string;
  fsync: string;
  synchronousCommit: string;
}

/** Returns the server's version, the database's encoding, and the settings that decide whether a commit lasts. */
export async function findServer(db: Queryable): Promise<Server> {
  const [row] = await db<[Server]>`
    select current_setting('server_version') as version,
           current_setting('server_encoding') as encoding,
           current_setting('fsync') as fsync,
           current_setting('synchronous_commit') as "synchronousCommit"`;
  return row;
}

/** Returns how many connections the server permits our role in this database. */
export async function findPermitted(db: Queryable): Promise<number> {
  const [row] = await db<[{ permitted: number }]>`
    select least(
             current_setting('max_connections')::int
               - current_setting('superuser_reserved_connections')::int
               - coalesce(current_setting('reserved_connections', true)::int, 0),
             (select nullif(rolconnlimit, -1) from pg_roles where rolname = session_user),
             (select nullif(datconnlimit, -1) from pg_database where datname = current_database())
           ) as permitted`;
  return row.permitted;
}

/** Returns the current role. */
export async function findRole(db: Queryable): Promise<string> {
  const [row] = await db<[{ role: string }]>`select current_user as role`;
  return row.role;
}

/** Returns true if we are a superuser. */
export async function isSuperuser(db: Queryable): Promise<boolean> {
  const [row] = await db<[{ rolsuper: boolean }]>`
    select rolsuper from pg_roles where rolname = current_user`;
  return row.rolsuper;
}

/** Writes one row. Throws if the database does not commit it, as on a standby or while commits hang. */
export async function writeReadiness(db: Queryable): Promise<void> {
  const { count } = await db`update readiness set writes = writes + 1`;
  if (count !== 1)
    throw new Error(
      "the table readiness has no row: run `insert into readiness (writes) values (0)`",
    );
}

/** What the first statement of the service must find in its session. */
const EXPECTED: Settings = { ...EFFECTIVE, plan_cache_mode: "force_generic_plan" };

/** Throws if a session lacks our settings, or if we cannot work with those that only an administrator can change. */
export async function requireSettings(db: Database, variable: string): Promise<void> {
  const { settings } = db.options;
  const names = Object.keys(EXPECTED).filter((name) => !(name in settings));
  const rows = await db<{ name: string; value: string }[]>`
    select name, current_setting(name) as value
      from unnest(${arrayText(names)}::text::text[]) as name`;
  const wrong = rows.filter(({ name, value }) => value !== EXPECTED[name]).map(({ name }) => name);
  if (wrong.length > 0)
    throw new Error(
      `${variable}: the database did not get the settings of the connection (${wrong.join(", ")}): ${POOLER_CURE}, ` +
        "or remove the login trigger that changes them",
    );
  await requireSurroundings(db, variable);
}

async function requireSurroundings(db: Database, variable: string): Promise<void> {
  const [row] = await db<[{ role: string; schemas: string; hasCatalogFirst: boolean }]>`
    select current_setting('session_replication_role') as role,
           current_setting('search_path') as schemas,
           current_schema() is distinct from 'pg_catalog'
             and (current_schemas(true))[1] = 'pg_catalog' as "hasCatalogFirst"`;
  if (row.role === "replica")
    throw new Error(
      `${variable}: session_replication_role is replica, which turns foreign keys off: ` +
        "reset it for the role and the database, as a superuser",
    );
  if (!row.hasCatalogFirst)
    throw new Error(
      `${variable}: search_path is ${row.schemas}, which names pg_catalog: other schemas' functions would replace PostgreSQL's, ` +
        "or tables would belong there. Remove pg_catalog from it",
    );
}

/** Returns true if the database ends idle sessions, which a pooler in transaction mode keeps for us. */
export async function endsPooledSessions(db: Database): Promise<boolean> {
  if (db.options.poolMode !== "transaction") return false;
  const rows = await db`
    select from pg_settings where name = 'idle_session_timeout' and reset_val <> '0'`;
  return rows.length > 0;
}
