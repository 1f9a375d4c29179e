import pg from "pg";

interface Place {
  host: string;
  port: number;
}

const CLOSED = "CONNECTION_CLOSED";

/** What an operator does where a pooler does not pass on what we say when we connect. */
export const POOLER_CURE =
  "behind a pooler, add pool_mode=session or pool_mode=transaction to the database's URL";

/** What ended a connection, or kept it from being made: in the words that were found, and with the host's name. */
export function failureAt({ host, port }: Place, cause: Error): Error {
  const isRefused = /startup parameter(?:: | in )options/.test(cause.message);
  const cure = isRefused ? ` (${POOLER_CURE})` : "";
  const place = host.startsWith("/") ? host : `${host.includes(":") ? `[${host}]` : host}:${port}`;
  return coded(`${place}: ${wordsOf(cause)}${cure}`, codeOf(cause) || CLOSED, cause);
}

/** A pooler that lends each transaction another connection loses statements, and finds others there already. */
const MISPLACED = new Set(["26000", "42P05"]);

/** What the server said, and what to do where a pooler is the cause. */
export function explained(error: pg.DatabaseError): pg.DatabaseError {
  if (MISPLACED.has(codeOf(error))) error.message += ` (${POOLER_CURE})`;
  return error;
}

/** Of a name with several addresses each has failed in its own way. */
function wordsOf(error: Error): string {
  const all = error instanceof AggregateError ? (error.errors as Error[]) : [error];
  return all.map(({ message }) => message).join(", ");
}

/** What becomes of a round of all hosts. The first host is the one that served last, and its code counts. */
export function failureOfAll(failures: Error[]): Error {
  const [first] = failures;
  const words = [...new Set(failures.map(({ message }) => message))];
  if (first && words.length === 1) return first;
  const isPrimaryMissing = failures.some((failure) => failure.cause instanceof Standby);
  const verdict = isPrimaryMissing ? "none of the hosts is the primary" : "no host serves";
  return coded(`${verdict} (${words.join("; ")})`, codeOf(first) || CLOSED, failures);
}

class Standby extends Error {
  readonly code = "25006"; // What it would say itself when it is asked to write.
}

export function standby(): Error {
  return new Standby("this is a standby");
}

export function silence(ms: number): Error {
  return coded(`no answer for ${seconds(ms)}`, "ETIMEDOUT");
}

export function noConnection(ms: number): Error {
  return coded(`no connection was free for ${seconds(ms)}`, CLOSED);
}

export function left(): Error {
  return coded("this host did not answer in time", "ETIMEDOUT");
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}

export function closed(): Error {
  return coded("the connection pool is closed", CLOSED);
}

/** Whether there are no further connections to be had, while those that there are work. */
export function isFull(error: unknown): boolean {
  return FULL.has(codeOf(error));
}

/** Too many connections at the server; too many descriptors in our process, and on our machine. */
const FULL = new Set(["53300", "EMFILE", "ENFILE"]);

/** Whether what the server has parsed for this connection is of no use any more: a table has changed, or a pooler lost it. */
export function isStale(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  return error.code === "26000" || error.routine === "RevalidateCachedQuery";
}

/** Whether a connection on which this happened may not be used again. */
export function isBreaking(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return true;
  return isStale(error) || error.severity === "FATAL" || BREAKING.test(codeOf(error));
}

/** Where the server speaks another language, so does the severity. */
const BREAKING = /^(?:08...|57P..|25006|25P03|25P04)$/;

export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : "";
}

function coded(message: string, code: string, cause?: unknown): Error {
  return Object.assign(new Error(message, cause === undefined ? undefined : { cause }), { code });
}
