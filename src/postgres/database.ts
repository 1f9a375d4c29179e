import postgres from "postgres";
import { renewed } from "./renewed.ts";
import { createSockets, type Where } from "./socket.ts";

/** A pool of connections. */
export type Database = postgres.Sql;

/** A pool or a transaction: the statement does not care. */
export type Queryable = postgres.ISql;

export interface DatabaseOptions {
  /** Connections at the most. */
  max: number;
  /** What `pg_stat_activity` calls us. */
  name: string;
  /** How long the server may say nothing before we take it for gone; longer than a statement may take. */
  silenceMs?: number;
  /** How long a transaction of ours may sit idle before the server ends it: what it holds, others wait for. */
  idleInTransactionMs?: number;
}

const IDLE_IN_TRANSACTION_MS = 10_000;
/** How long a statement may take before the server ends it. */
const STATEMENT_MS = 30_000;
/** Whoever does not even end a statement that took too long is not there any more. */
const SILENCE_MS = 35_000;
/** We hang up ourselves before an idle connection passes for a silent one. */
const IDLE_SECONDS = 20;
/** A statement waits this long at the most before it finds out that the database is still away. */
const BACKOFF_MAX_SECONDS = 0.25;

export function connect(
  url: string,
  {
    max,
    name,
    silenceMs = SILENCE_MS,
    idleInTransactionMs = IDLE_IN_TRANSACTION_MS,
  }: DatabaseOptions,
): Database {
  const sockets = createSockets(silenceMs);
  let hosts: Where | undefined;
  const options = {
    max,
    idle_timeout: IDLE_SECONDS,
    // A standby answers what only reads, and so would keep a connection that was made during a failover.
    target_session_attrs: "primary" as const,
    max_lifetime: 0, // One that expires in mid-work would have the whole pool replaced.
    connect_timeout: 5,
    backoff: (retries: number) => Math.min(0.05 * 2 ** retries, BACKOFF_MAX_SECONDS),
    onnotice: () => undefined,
    transform: { undefined: null },
    connection: {
      application_name: name,
      TimeZone: "UTC",
      statement_timeout: STATEMENT_MS,
      idle_in_transaction_session_timeout: idleInTransactionMs,
      jit: "off",
      // Every statement of ours looks up by key. A plan made while a table was empty must not stay a scan.
      enable_seqscan: "off",
      plan_cache_mode: "force_generic_plan",
    },
  };
  let known: object | undefined; // What the driver made of them, and the types that it learned.
  return renewed((told) => {
    const socket = (where: Where) => sockets(hosts ?? where, told);
    const { onparameter, onclose } = told;
    const ours: object = { socket, onparameter, onclose }; // The driver's types do not know of sockets.
    const again: object = { ...known, parameters: {}, ...ours };
    const sql = known ? postgres(again) : postgres(url, { ...options, ...ours });
    known = sql.options;
    hosts ??= { ...(sql.options as Where) };
    // With several of them the driver (3.4.9) would dial again and again, at once, and tell nobody.
    sql.options.host = hosts.host.slice(0, 1);
    return sql;
  });
}

/** Finds out which of the hosts is the primary. Throws what the last of them came to if none is. */
export async function findPrimary(db: Database): Promise<void> {
  for (let left = db.options.port.length; left > 0; left--) {
    try {
      await db`select 1`;
      return;
    } catch (error) {
      if (left === 1 || !isUnavailable(error)) throw error;
    }
  }
}

/**
 * Lets the driver ask once for the types of arrays, and not on each new connection: one that breaks just then would
 * end the process, or hold a statement for ever.
 */
export async function learnTypes(db: Database): Promise<void> {
  await findPrimary(db);
  Object.assign(db.options, { fetch_types: false });
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
  return AWAY.has(code) || AWAY_CLASSES.has(code.slice(0, 2));
}

const AWAY = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_ENDED",
  "CONNECTION_DESTROYED",
  "CONNECT_TIMEOUT",
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
  // What the driver had not sent when a connection broke, it sends before it has another one.
  "ERR_SOCKET_CLOSED",
  "ERR_STREAM_DESTROYED",
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

/** Whether the role lacks a right. */
export function isForbidden(error: unknown): boolean {
  return codeOf(error) === "42501";
}

/** Whether the same statement may well succeed in a moment. */
export function isTransient(error: unknown): boolean {
  const code = codeOf(error);
  return isUnavailable(error) || isInUse(error) || code === "40P01" || code === "40001"; // deadlock, serialization
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "";
}
