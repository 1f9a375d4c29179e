import type { OrganizationId } from "../lib/ids.ts";
import { codeOf } from "../lib/objects.ts";
import { isStale } from "./driver/failure.ts";
import { Listener, type ListenerOptions } from "./driver/listener.ts";
import { Pool } from "./driver/pool.ts";
import { createSql, type Sql } from "./driver/sql.ts";
import { traced } from "./driver/traced.ts";
import { readUrl, type Target } from "./driver/url.ts";
import { sendSettings, type Settings } from "./session-settings.ts";

export { isCrowded } from "./driver/failure.ts";

/** A pool or a transaction. Statements work with both. */
export type Queryable = Sql;

/** A pool of connections. */
export interface Database extends Queryable {
  /** Does the work in one transaction. */
  begin: <Result>(work: (tx: Queryable) => PromiseLike<Result>) => Promise<Result>;
  /**
   * The same database, for work that must end within `ms` from now. After that, the work fails and its connection is closed.
   * The work may have been done or not. Its locks are released soon.
   */
  within: (ms: number) => Database;
  /** The same database, for the work of one organization. It gets its turn among the others, and half of the connections at most. */
  of: (organizationId: OrganizationId) => Database;
  /**
   * Listens on a channel, over its own connection. Null behind a pooler in transaction mode, which keeps no connection to
   * listen on.
   */
  listen: (options: ListenerOptions) => Listener | null;
  /** Waits up to `timeout` seconds for statements and transactions that have begun. */
  end: (options?: { timeout?: number }) => Promise<void>;
  /** The settings of the URL. */
  options: Target;
}

export interface DatabaseOptions {
  /** The largest number of connections. */
  max: number;
  /** Our name in `pg_stat_activity`. */
  name: string;
  /** The time limit of statements and transactions outside of `within`. Default: none. */
  patienceMs?: number | undefined;
  /** How long to wait for an answer before the server is taken for gone. Must be longer than the server's statement timeout. */
  silenceMs?: number;
  /** After this time the server ends an idle transaction of ours, because others may wait for its locks. */
  idleInTransactionMs?: number;
}

const IDLE_IN_TRANSACTION_MS = 10_000;
/** The server ends a statement after this time. */
const STATEMENT_MS = 30_000;
/** A server that does not end such a statement by then is gone. */
const SILENCE_MS = 35_000;
const IDLE_MS = 20_000;
const DIAL_MS = 5_000;
/** Keeps long migrations from hanging if a network silently drops idle connections. */
const KEEP_ALIVE_MS = 60_000;

export function connect(
  url: string,
  {
    max,
    name,
    patienceMs = Infinity,
    silenceMs = SILENCE_MS,
    idleInTransactionMs = IDLE_IN_TRANSACTION_MS,
  }: DatabaseOptions,
): Database {
  const target = readUrl(url);
  const connecting = connectingTo(target, {
    // A plan that was made while a table was empty must not remain a sequential scan.
    ...{ enable_seqscan: "off", plan_cache_mode: "force_generic_plan" },
    statement_timeout: `${STATEMENT_MS}`,
    idle_in_transaction_session_timeout: `${idleInTransactionMs}`,
  });
  const application_name = target.applicationName ?? name;
  const pool = new Pool({ ...connecting, max, silenceMs, idleMs: IDLE_MS, application_name });
  const listening = { ...connecting, application_name: `${application_name} listen` };
  return open();

  function open(endMs?: number, holder: string | null = null): Database {
    const lending = () => ({ holder, untilMs: endMs ?? performance.now() + patienceMs });
    return Object.assign(createSql(traced((statement) => pool.run(statement, lending()))), {
      begin: <Result>(work: (tx: Queryable) => PromiseLike<Result>) =>
        pool.begin((run) => work(createSql(traced(run))), lending()),
      within: (ms: number) => open(Math.min(endMs ?? Infinity, performance.now() + ms), holder),
      of: (organizationId: OrganizationId) => open(endMs, organizationId),
      listen: (listener: ListenerOptions) =>
        target.poolMode === "transaction" ? null : new Listener(listening, listener),
      end: ({ timeout = 5 } = {}) => pool.end(timeout * 1000),
      options: target,
    });
  }
}

/** What every connection to the database has in common. */
function connectingTo(target: Target, settings: Settings) {
  const { addresses, user, password, database, signIn, dialMs, keepAlive, keepAliveMs } = target;
  return {
    ...{ addresses, user, password, database, signIn },
    sslnegotiation: target.isDirect ? ("direct" as const) : ("postgres" as const),
    connectionTimeoutMillis: dialMs ?? DIAL_MS,
    keepAlive,
    keepAliveInitialDelayMillis: keepAliveMs ?? KEEP_ALIVE_MS,
    ...sendSettings(target, settings),
  };
}

/** Runs the work on one snapshot, read-only. */
export function inSnapshot<Result>(
  db: Database,
  work: (tx: Queryable) => PromiseLike<Result>,
): Promise<Result> {
  return db.begin(async (tx) => {
    await tx`set transaction isolation level repeatable read, read only`;
    return work(tx);
  });
}

/**
 * Returns the bounds of how far the database's clock is ahead of `now`, in ms. The time was read somewhere between question and
 * answer.
 */
export async function clockSkewMs(
  db: Queryable,
  now: () => Date,
): Promise<{ least: number; most: number }> {
  const asked = now().getTime();
  const [row] = await db<{ ms: string }[]>`
    select extract(epoch from clock_timestamp()) * 1000 as ms`;
  const answered = now().getTime();
  const ms = Number(row?.ms);
  return { least: ms - Math.max(asked, answered), most: ms - Math.min(asked, answered) };
}

/** Returns true if the database is unreachable or overloaded, rather than the statement wrong. */
export function isUnavailable(error: unknown): boolean {
  const code = codeOf(error);
  return AWAY.has(code) || AWAY_CLASSES.has(code.slice(0, 2)) || isStale(error);
}

const AWAY = new Set([
  "CONNECTION_CLOSED", // also if we closed it, or before it was open
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
  "EAI_AGAIN",
  // This machine has no free port to connect from.
  "EADDRNOTAVAIL",
  "EMFILE",
  "ENFILE",
  "ENOBUFS",
  "ENOMEM",
  "25006", // read-only: a standby during failover
  "25P03", // our transaction was idle for too long, so its connection is closed
  "25P04", // the same, for a transaction that took too long
  "42P05", // a pooler gave us a connection on which another client prepared the statement
  "57014", // statement timeout
  "57P01",
  "57P02",
  "57P03",
  "57P04",
  "57P05", // our connection was idle for too long
]);

/** Connection failures and insufficient resources (disk full, too many connections). */
const AWAY_CLASSES = new Set(["08", "53"]);

function hasCode(code: string): (error: unknown) => boolean {
  return (error) => codeOf(error) === code;
}

/** Returns true if the statement names a column that does not exist. */
export const hasNoColumn = hasCode("42703");

/** Returns true if a lock was not free in time. */
export const isInUse = hasCode("55P03");

/** Returns true if the server ended a transaction to break a deadlock. */
export const isDeadlock = hasCode("40P01");

/** Returns true if the server ended a statement that took too long. */
export const isTimedOut = hasCode("57014");

/** Returns true if the role lacks a right. */
export const isForbidden = hasCode("42501");

/** Returns true if the role sees no schema: it does not exist, or the role may not use it. */
export const hasNoSchema = hasCode("3F000");

/** Returns true if the same statement may succeed in a moment. */
export function isTransient(error: unknown): boolean {
  const code = codeOf(error);
  return isUnavailable(error) || isInUse(error) || isDeadlock(error) || code === "40001"; // serialization
}
