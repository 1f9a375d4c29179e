import pg from "pg";
import { codeOf, cut } from "../../lib/objects.ts";

const CLOSED = "CONNECTION_CLOSED";

/** The operator's remedy if a pooler drops the settings of our start-up packet. */
export const POOLER_CURE =
  "behind a pooler, add pool_mode=session or pool_mode=transaction to the database's URL";

/** Returns an error for a connection that ended or could not be made, with the host's name and the original message. */
export function failureAt({ host, port }: { host: string; port: number }, cause: Error): Error {
  const isRefused = /startup parameter(?:: | in )options/.test(cause.message);
  const cure = isRefused ? ` (${POOLER_CURE})` : "";
  shorten(cause);
  const at = host.startsWith("/") ? host : `${host.includes(":") ? `[${host}]` : host}:${port}`;
  if (UNSENT.test(cause.message)) return coded(`${at}: ${NO_PASSWORD}`, "28P01", cause);
  return coded(`${at}: ${wordsOf(cause)}${cure}`, codeOf(cause) || CLOSED, cause);
}

/** A pooler that gives each transaction another connection loses prepared statements, or has those of other clients. */
const MISPLACED = new Set(["26000", "42P05"]);

export function isMisplaced(error: unknown): boolean {
  return MISPLACED.has(codeOf(error));
}

/** Returns the server's error, with the remedy if a pooler is the cause. */
export function explained(error: pg.DatabaseError): pg.DatabaseError {
  if (isMisplaced(error)) error.message += ` (${POOLER_CURE})`;
  return error;
}

/** Cuts the texts of an error, because the server chooses their length, and they go to the log and the terminal. */
export function shorten(error: Error): void {
  const { message, stack = "" } = error;
  for (const [name, text] of Object.entries(error)) {
    if (typeof text === "string") Object.assign(error, { [name]: cut(text) });
  }
  error.message = cut(message);
  error.stack = stack.replace(message, () => error.message);
}

/** The driver's and the server's words for a password that nobody has given. */
const UNSENT = /^SASL: .*client password must be a|^empty password returned by client$/;
const NO_PASSWORD =
  "the server asks for a password, and neither the database's URL nor PGPASSWORD nor the password file has one";

export const NO_ROLE =
  "neither the database's URL nor PGUSER names a role, and this machine has no name for our user";

/** If a name has several addresses, each has its own error. */
function wordsOf(error: Error): string {
  const all = error instanceof AggregateError ? (error.errors as Error[]) : [error];
  return all.map(({ message }) => message).join(", ");
}

/** Returns the error after all hosts failed. The first host served last, so its code counts. */
export function failureOfAll(failures: Error[]): Error {
  const [first] = failures;
  const words = [...new Set(failures.map(({ message }) => message))];
  if (first && words.length === 1) return first;
  const isPrimaryMissing = failures.some((failure) => failure.cause instanceof Standby);
  const verdict = isPrimaryMissing ? "no host is the primary" : "no host is available";
  return coded(`${verdict} (${words.join("; ")})`, codeOf(first) || CLOSED, failures);
}

class Standby extends Error {
  readonly code = "25006"; // The server would report this code if it were asked to write.
}

export function standby(): Error {
  return new Standby("this is a standby");
}

/** The failure of a connection that began at the primary. Its first read may have gone elsewhere. */
export function divided(failure: Error): Error {
  return failure instanceof Standby
    ? new Standby("a pooler sends reads to a standby: set load_balance_mode = off")
    : failure;
}

export function unwanted(method: string): Error {
  const asks = method === "none" ? "asks for no proof of who we are" : `asks for ${method}`;
  return new Error(`the server ${asks}, which require_auth of the URL does not allow`);
}

export function unproven(): Error {
  return new Error(
    "the server does not offer channel binding, which the URL requires (channel_binding)",
  );
}

export function silence(ms: number): Error {
  return coded(`the database did not answer for ${seconds(ms)}`, "ETIMEDOUT");
}

export function noConnection(ms: number): Error {
  return coded(`no connection was free for ${seconds(ms)}`, CLOSED);
}

const CROWDED = "CONNECTIONS_IN_USE";

/** An organization's calls had all the connections that it may have. That is no outage, because the caller has the choice. */
export function noConnectionOf(ms: number): Error {
  return coded(
    `the connections that one organization may use were busy for ${seconds(ms)}`,
    CROWDED,
  );
}

export function isCrowded(error: unknown): boolean {
  return codeOf(error) === CROWDED;
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

/** Returns true if no new connection can be made although the existing ones work. */
export function isFull(error: unknown): boolean {
  return FULL.has(codeOf(error));
}

/** Too many connections at the server, or too many descriptors in our process or on our machine. */
const FULL = new Set(["53300", "EMFILE", "ENFILE"]);

/** Returns true if a prepared statement is no longer valid: a table has changed, or a pooler lost the statement. */
export function isStale(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  return error.code === "26000" || error.routine === "RevalidateCachedQuery";
}

/** Returns true if the connection must not be used after this error. */
export function isBreaking(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return true;
  return isStale(error) || error.severity === "FATAL" || BREAKING.test(codeOf(error));
}

/** By code, because a server in another language also translates the severity. */
const BREAKING = /^(?:08...|57P..|25006|25P03|25P04)$/;

function coded(message: string, code: string, cause?: unknown): Error {
  return Object.assign(new Error(message, cause === undefined ? undefined : { cause }), { code });
}
