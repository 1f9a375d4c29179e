import { escapeIdentifier, escapeLiteral } from "pg";
import { codeOf, isStale, POOLER_CURE } from "./driver/failure.ts";
import { Listener, type ListenerOptions } from "./driver/listener.ts";
import { Pool, type PoolOptions } from "./driver/pool.ts";
import { createSql, type Sql } from "./driver/sql.ts";
import { type PoolMode, readUrl, type Target } from "./driver/url.ts";

/** A pool or a transaction: the statement does not care. */
export type Queryable = Sql;

/** A pool of connections. */
export interface Database extends Queryable {
  /** All of the work is done in one transaction, or nothing of it. */
  begin: <Result>(work: (tx: Queryable) => PromiseLike<Result>) => Promise<Result>;
  /**
   * The same database for work that must end `ms` from now. After that it is abandoned with its connection: it fails,
   * it may have been done or not, and its locks are soon released.
   */
  within: (ms: number) => Database;
  /**
   * Listens on a channel, over a connection of its own. Null behind a pooler that lends a connection for one transaction:
   * it has none to listen on.
   */
  listen: (options: ListenerOptions) => Listener | null;
  /** Waits at most `timeout` seconds for the statements and transactions that have begun. */
  end: (options?: { timeout?: number }) => Promise<void>;
  /** What the URL said. */
  options: Target;
}

export interface DatabaseOptions {
  /** Connections at most. */
  max: number;
  /** What `pg_stat_activity` calls us. */
  name: string;
  /** How long a statement or transaction may take outside of `within` until it is abandoned. Default: no limit. */
  patienceMs?: number | undefined;
  /** How long the server may take for an answer before we take it for gone; longer than a statement may take. */
  silenceMs?: number;
  /** How long a transaction of ours may sit idle before the server ends it: what it holds, others wait for. */
  idleInTransactionMs?: number;
}

const IDLE_IN_TRANSACTION_MS = 10_000;
/** How long a statement may take before the server ends it. */
const STATEMENT_MS = 30_000;
/** A server that does not even end a statement that took too long is gone. */
const SILENCE_MS = 35_000;
const PLAN_CACHE_MODE = "force_generic_plan";
const IDLE_MS = 20_000;
const DIAL_MS = 5_000;
/** Where a network forgets a connection on which nothing moves, a long migration is noticed to be lost. */
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
  const { settings, poolMode, ...way } = target;
  const { application_name = name, options = "", ...others } = settings;
  const ours = {
    TimeZone: "UTC",
    statement_timeout: `${STATEMENT_MS}`,
    idle_in_transaction_session_timeout: `${idleInTransactionMs}`,
    jit: "off",
    // Every statement of ours looks up by key. A plan made while a table was empty must not stay a scan.
    enable_seqscan: "off",
    plan_cache_mode: PLAN_CACHE_MODE,
    ...others,
  };
  const connecting = {
    ...way,
    connectionTimeoutMillis: DIAL_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    ...settingsFor(poolMode, ours, options),
  };
  const pool = new Pool({ ...connecting, max, silenceMs, idleMs: IDLE_MS, application_name });
  const listening = { ...connecting, application_name: `${application_name} listen` };
  return open();

  function open(endMs?: number): Database {
    const untilMs = () => endMs ?? performance.now() + patienceMs;
    return Object.assign(
      createSql((statement) => pool.run(statement, untilMs())),
      {
        begin: <Result>(work: (tx: Queryable) => PromiseLike<Result>) =>
          pool.begin((run) => work(createSql(run)), untilMs()),
        within: (ms: number) => open(Math.min(endMs ?? Infinity, performance.now() + ms)),
        listen: (listener: ListenerOptions) =>
          poolMode === "transaction" ? null : new Listener(listening, listener),
        end: ({ timeout = 5 } = {}) => pool.end(timeout * 1000),
        options: target,
      },
    );
  }
}

/** All that the work reads is as it was at one moment. It writes nothing. */
export function inSnapshot<Result>(
  db: Database,
  work: (tx: Queryable) => PromiseLike<Result>,
): Promise<Result> {
  return db.begin(async (tx) => {
    await tx`set transaction isolation level repeatable read, read only`;
    return work(tx);
  });
}

/** How the settings reach the server. A pooler does not pass them on when a connection is made. */
function settingsFor(
  poolMode: PoolMode | null,
  settings: Record<string, string>,
  options: string,
): Pick<PoolOptions, "options" | "opening" | "begin"> {
  if (poolMode === null) return { options: `${asOptions(settings)} ${options}` };
  if (options) throw new Error("the database's URL: a pooler takes no options");
  const ask = "select pg_is_in_recovery() as is_standby";
  if (poolMode === "transaction") {
    // Not by a function: after a query a transaction cannot choose its isolation any more.
    return { opening: ask, begin: `begin; ${asCommands(settings)}` };
  }
  return { opening: `${ask}, ${asCalls(settings)}` };
}

function asCommands(settings: Record<string, string>): string {
  return Object.entries(settings)
    .map(([name, value]) => `set local ${escapeIdentifier(name)} = ${escapeLiteral(value)}`)
    .join("; ");
}

/** In one statement, which a pooler passes on whole. */
function asCalls(settings: Record<string, string>): string {
  return Object.entries(settings)
    .map((pair) => `set_config(${pair.map(escapeLiteral).join(", ")}, false)`)
    .join(", ");
}

function asOptions(settings: Record<string, string>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replace(/[\\\s]/g, "\\$&")}`)
    .join(" ");
}

/** Throws where a pooler has dropped our settings: statements would have no limit, and plans could be slow ones. */
export async function requireSettings(db: Database): Promise<void> {
  const [row] = await db<[{ mode: string }]>`select current_setting('plan_cache_mode') as mode`;
  const { plan_cache_mode: wanted = PLAN_CACHE_MODE, options = "" } = db.options.settings;
  if (row.mode === wanted || options.includes("plan_cache_mode")) return;
  throw new Error(`our settings do not reach the database: ${POOLER_CURE}`);
}

/**
 * How far the database's clock is ahead of `now`, in milliseconds, at the least and at the most: nobody knows at which
 * moment between question and answer it was read.
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

/** Whether an error means that the database is away or overwhelmed, and not that a statement is wrong. */
export function isUnavailable(error: unknown): boolean {
  const code = codeOf(error);
  return AWAY.has(code) || AWAY_CLASSES.has(code.slice(0, 2)) || isStale(error);
}

const AWAY = new Set([
  "CONNECTION_CLOSED", // also by us, or before it was made
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
  "EAI_AGAIN",
  // We have none left to connect with.
  "EADDRNOTAVAIL",
  "EMFILE",
  "ENFILE",
  "ENOBUFS",
  "ENOMEM",
  "25006", // read-only: a standby during failover
  "25P03", // a transaction of ours sat idle for too long, and its connection is gone
  "25P04", // or took too long
  "42P05", // a pooler lent us a connection on which somebody else has prepared the statement
  "57014", // statement timeout
  "57P01",
  "57P02",
  "57P03",
  "57P04",
  "57P05", // a connection of ours was idle for too long
]);

/** Connection failures and insufficient resources (disk full, too many connections). */
const AWAY_CLASSES = new Set(["08", "53"]);

/** Whether a lock was not to be had in time. */
export function isInUse(error: unknown): boolean {
  return codeOf(error) === "55P03";
}

/** Whether the server ended a transaction so that others which wait for it can go on. */
export function isDeadlock(error: unknown): boolean {
  return codeOf(error) === "40P01";
}

/** Whether the server ended a statement that took too long. */
export function isTimedOut(error: unknown): boolean {
  return codeOf(error) === "57014";
}

/** Whether the role lacks a right. */
export function isForbidden(error: unknown): boolean {
  return codeOf(error) === "42501";
}

/** Whether the role sees no schema to work in: it is not there, or may not be used. */
export function hasNoSchema(error: unknown): boolean {
  return codeOf(error) === "3F000";
}

/** Whether the same statement may well succeed in a moment. */
export function isTransient(error: unknown): boolean {
  const code = codeOf(error);
  return isUnavailable(error) || isInUse(error) || isDeadlock(error) || code === "40001"; // serialization
}
