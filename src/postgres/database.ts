import { codeOf, isStale } from "./driver/failure.ts";
import { Pool } from "./driver/pool.ts";
import { createSql, type Sql } from "./driver/sql.ts";
import { readUrl, type Target } from "./driver/url.ts";

/** A pool or a transaction: the statement does not care. */
export type Queryable = Sql;

/** A pool of connections. */
export interface Database extends Queryable {
  /** All of the work is done in one transaction, or nothing of it. */
  begin: <Result>(work: (tx: Queryable) => PromiseLike<Result>) => Promise<Result>;
  /**
   * The same database for work that must be over `ms` from now. What is not is abandoned with its connection: it fails,
   * it may have been done or not, and soon nothing of it is locked.
   */
  within: (ms: number) => Database;
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
const IDLE_MS = 20_000;
const DIAL_MS = 5_000;
/** Where a network forgets a connection on which nothing moves, a long migration is noticed to be lost. */
const KEEP_ALIVE_MS = 60_000;

export function connect(
  url: string,
  {
    max,
    name,
    silenceMs = SILENCE_MS,
    idleInTransactionMs = IDLE_IN_TRANSACTION_MS,
  }: DatabaseOptions,
): Database {
  const target = readUrl(url);
  const { settings, ...way } = target;
  const { application_name = name, options = "", ...others } = settings;
  const ours = {
    TimeZone: "UTC",
    statement_timeout: `${STATEMENT_MS}`,
    idle_in_transaction_session_timeout: `${idleInTransactionMs}`,
    jit: "off",
    // Every statement of ours looks up by key. A plan made while a table was empty must not stay a scan.
    enable_seqscan: "off",
    plan_cache_mode: "force_generic_plan",
  };
  const pool = new Pool({
    ...{ ...way, max, silenceMs, idleMs: IDLE_MS, application_name },
    connectionTimeoutMillis: DIAL_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    options: `${asOptions({ ...ours, ...others })} ${options}`,
  });
  return open(Infinity);

  function open(untilMs: number): Database {
    return Object.assign(
      createSql((statement) => pool.run(statement, untilMs)),
      {
        begin: <Result>(work: (tx: Queryable) => PromiseLike<Result>) =>
          pool.begin((run) => work(createSql(run)), untilMs),
        within: (ms: number) => open(Math.min(untilMs, performance.now() + ms)),
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

function asOptions(settings: Record<string, string>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replace(/[\\\s]/g, "\\$&")}`)
    .join(" ");
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

/** Whether the server ended a statement that took too long. */
export function isTimedOut(error: unknown): boolean {
  return codeOf(error) === "57014";
}

/** Whether the role lacks a right. */
export function isForbidden(error: unknown): boolean {
  return codeOf(error) === "42501";
}

/** Whether the same statement may well succeed in a moment. */
export function isTransient(error: unknown): boolean {
  const code = codeOf(error);
  return isUnavailable(error) || isInUse(error) || code === "40P01" || code === "40001"; // deadlock, serialization
}
