import { connect, type Queryable } from "./database.ts";
import { isMisplaced } from "./driver/failure.ts";
import { readUrl } from "./driver/url.ts";

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
