import { homeFolder, startEmbedded } from "../builtin/index.ts";
import type { Config } from "../config/config.ts";
import { formatDuration } from "../lib/duration.ts";
import { explainDatabaseFault } from "../observe/outage.ts";
import { connect, type Database, hasNoSchema, isForbidden } from "../postgres/database.ts";
import { readUrl } from "../postgres/driver/url.ts";
import {
  endsPooledSessions,
  findPermitted,
  requireServer,
  requireSessions,
  requireSettings,
} from "../postgres/server.ts";
import {
  findPendingMigrations,
  findRetention,
  migrate,
  ownsSchema,
  writeRetention,
} from "../schema/migrate.ts";
import {
  findActingRole,
  findExcess,
  findOthers,
  grantPublisher,
  grantService,
  requireFree,
  requireOwnSchema,
  requireSight,
} from "../schema/rights.ts";
import { findCell, writeCell } from "../subjects/cells/sql.ts";

/** The folder of the built-in database. Null if the operator runs the server. */
export function databaseFolder({ databaseUrl, dataDir }: Config): string | null {
  return databaseUrl === null ? homeFolder(dataDir) : null;
}

interface OpenDatabase {
  db: Database;
  /** The URL of the configured database, or of the built-in one. */
  url: string;
  close: () => Promise<void>;
}

/** Connections of a process. This many keep two cores of PostgreSQL busy. */
const CONNECTIONS_MAX = 10;
/** With the one that listens for nudges. */
const CONNECTIONS_EACH = CONNECTIONS_MAX + 1;
/** A migration may rewrite a large table, or wait for another process that migrates. */
const MIGRATION_MS = 24 * 3_600_000;
/** How long a look at the schema may take. A server that is frozen must not hold up the start. */
const LOOK_MS = 10_000;
/** How long the owner's steps after the migrations may take. They may wait for the same steps of other processes. */
const STEPS_MS = 60_000;

/**
 * Opens the configured database or starts the built-in one, and updates its schema. Only with `writesRetention` does RETENTION
 * replace the stored value.
 */
export async function openDatabase(
  config: Config,
  log: (message: string) => void,
  {
    max = CONNECTIONS_MAX,
    patienceMs,
    writesRetention = false,
    openedUrl = null,
  }: {
    max?: number;
    patienceMs?: number;
    writesRetention?: boolean;
    /** The database that another process keeps open for this one, which has updated its schema. */
    openedUrl?: string | null;
  } = {},
): Promise<OpenDatabase> {
  const startsServer = config.databaseUrl === null && openedUrl === null;
  const embedded = startsServer ? await startEmbedded({ dataDir: config.dataDir, log }) : null;
  const url = openedUrl ?? config.databaseUrl ?? embedded?.url ?? "";
  let db: Database | undefined;
  const close = async () => {
    await db?.end({ timeout: 5 });
    await embedded?.stop();
  };

  try {
    const owners = config.migrationDatabaseUrl ? "MIGRATION_DATABASE_URL" : "DATABASE_URL";
    await requireSessions("DATABASE_URL", url);
    if (config.migrationDatabaseUrl) await requireSessions(owners, config.migrationDatabaseUrl);
    if (openedUrl === null)
      await updateSchema(config, url, log, { writesRetention }).catch(explain(owners));
    const idleInTransactionMs = standstillMs(config);
    db = connect(url, { max, name: "partner-api", patienceMs, idleInTransactionMs });
    // An unreachable database is an error of the start.
    await requireSettings(db, "DATABASE_URL").catch(explain("DATABASE_URL"));
    if (await endsPooledSessions(db)) log(POOLED);
    await requireSight(db);
    if (config.migrationDatabaseUrl) await requireSameSchema(db);
    await requireCell(db, config);
    return { db, url, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const POOLED =
  "idle_session_timeout ends connections that the pooler keeps, so requests may get 503: set it to 0 for the role";

function explain(variable: string): (error: unknown) => never {
  return (error) => {
    throw explainDatabaseFault(variable, error);
  };
}

/** Throws if the database permits fewer connections than the workers may open. Behind a pooler only the pooler knows. */
export async function requireConnections(db: Database, workers: number): Promise<string> {
  const needed = workers * CONNECTIONS_EACH;
  if (db.options.poolMode === "transaction")
    return `up to ${needed}, of those that the pooler permits`;
  const permitted = await findPermitted(db);
  if (needed <= permitted) return `up to ${needed} of the ${permitted} that the database permits`;
  const most = Math.floor(permitted / CONNECTIONS_EACH);
  const raise = "raise max_connections or the role's or database's limit";
  throw new Error(
    most === 0
      ? `the database permits ${permitted} connections, and a process opens up to ${CONNECTIONS_EACH}: ${raise}`
      : `WORKERS: the database permits ${permitted} connections, and ${workers} workers open up to ${needed}, ` +
          `${CONNECTIONS_EACH} each: set WORKERS to ${most}, or ${raise}`,
  );
}

/** Throws if the database is another cell's. So every key id of a cell begins with its name. */
async function requireCell(db: Database, { cell }: Config): Promise<void> {
  const stored = await findCell(db);
  if (stored === cell) return;
  throw new Error(
    `CELL is ${cell}, but the database is that of cell ${stored}: correct CELL or DATABASE_URL`,
  );
}

/** Throws if the two URLs lead to different databases, because only one of them was migrated. */
async function requireSameSchema(db: Database): Promise<void> {
  if ((await findPendingMigrations(db)).length === 0) return;
  throw new Error(
    "DATABASE_URL and MIGRATION_DATABASE_URL lead to different databases or schemas: correct one of them",
  );
}

/**
 * How long a transaction of ours may stand still, as in a frozen process: one attempt, a third of a lease. So those that wait
 * for its rows can still record in time.
 */
export function standstillMs({ attemptTimeoutMs }: Pick<Config, "attemptTimeoutMs">): number {
  return Math.min(Math.max(attemptTimeoutMs, STANDSTILL_MS.least), STANDSTILL_MS.most);
}

const STANDSTILL_MS = { least: 1_000, most: 10_000 };

/** Migrates with the owner's role. A service role without that right is accepted if nothing is to be done. */
export async function updateSchema(
  config: Config,
  url: string,
  log: (message: string) => void,
  {
    writesRetention = false,
    stepsMs = STEPS_MS,
  }: { writesRetention?: boolean; stepsMs?: number } = {},
): Promise<void> {
  const owner = connect(config.migrationDatabaseUrl ?? url, {
    max: 1,
    name: "partner-api migrate",
    silenceMs: MIGRATION_MS,
  });
  try {
    await requireServer(owner.within(LOOK_MS));
    await requireOwnSchema(owner.within(LOOK_MS));
    await requireSight(owner.within(LOOK_MS));
    const pending = await findPendingMigrations(owner.within(LOOK_MS)).catch(orExplain(NO_RIGHTS));
    if (pending.length > 0) {
      await requireFree(owner.within(LOOK_MS));
      const onWait = (name: string) =>
        log(`${name} waits for tables that other sessions use, up to ten minutes`);
      for (const name of await migrate(owner, { onWait }).catch(orExplain(OLD)))
        log(`applied ${name}`);
    }
    await keepSchema(config, url, owner.within(stepsMs), { log, writesRetention });
  } finally {
    await owner.end({ timeout: 5 });
  }
}

/** Writes the settings that the schema stores, and grants rights. A role that does not own the schema leaves it as it is. */
async function keepSchema(
  config: Config,
  url: string,
  owner: Database,
  { log, writesRetention }: { log: (message: string) => void; writesRetention: boolean },
): Promise<void> {
  if (!(await ownsSchema(owner))) return;
  await writeCell(owner, config.cell);
  await keepRetention(owner, config.retentionMs, writesRetention, log);
  const statement = await grantPublisher(owner);
  if (statement !== null)
    log(`to enable partner_api_publish(), an administrator must run: ${statement}`);
  const { user, settings } = readUrl(url);
  const service = settings["role"] ?? (user === "" ? "" : await findActingRole(owner, user));
  if (config.migrationDatabaseUrl && service !== "") await confine(owner, service, log);
  const others = await findOthers(owner);
  if (others !== null) log(describeOthers(others));
}

/** The warning about other roles with all rights. */
export function describeOthers(roles: string): string {
  return (
    `other roles may empty the service's tables or publish: ${roles}. Revoke their rights. ` +
    "If the database gives them to all that is created, as Supabase does in public, use a schema of its own (search_path in the URL)"
  );
}

/** The first value is always stored, because without one, history never expires. */
async function keepRetention(
  owner: Database,
  retentionMs: number,
  writesRetention: boolean,
  log: (message: string) => void,
): Promise<void> {
  const before = await findRetention(owner);
  if (before === retentionMs || (before !== null && !writesRetention)) return;
  await writeRetention(owner, retentionMs);
  if (before === null) return;
  log(
    `history is now kept for ${formatDuration(retentionMs)} instead of ${formatDuration(before)}`,
  );
}

const OLD = "the schema is not up to date, and this role may not change it";
const NO_RIGHTS = "the role has no rights to the schema";
const CURE = "run `partner-api migrate` with MIGRATION_DATABASE_URL beside DATABASE_URL";

function orExplain(what: string): (error: unknown) => never {
  return (error) => {
    if (hasNoSchema(error)) throw new Error(`${NO_RIGHTS}: ${CURE}`, { cause: error });
    throw isForbidden(error) ? new Error(`${what}: ${CURE}`, { cause: error }) : error;
  };
}

/** Grants the service's role exactly its rights. A member of the owner has every right and is not changed. */
async function confine(
  owner: Database,
  service: string,
  log: (message: string) => void,
): Promise<void> {
  const excess = await findExcess(owner, service);
  if (excess !== "owner") await grantService(owner, service);
  if (excess !== null) log(`the role ${service} of DATABASE_URL ${EXCESS[excess]}`);
}

/** The warnings about a role that is stronger than the service needs. */
export const EXCESS = {
  owner: "is a member of the schema's owner: it can alter and drop everything",
  create: "may create objects in the schema, and could become its owner: revoke that right",
};

/** Describes where the database is, for messages. */
export function describeDatabase({ databaseUrl, dataDir }: Config): string {
  if (!databaseUrl) return `built in, ${homeFolder(dataDir)}`;
  const [{ host = "", port = "" } = {}] = readUrl(databaseUrl).addresses;
  return [host, port].filter((part) => part !== "").join(":");
}
