import { setTimeout as sleep } from "node:timers/promises";
import type { Database, Queryable } from "./database.ts";

/** What a pool tells of its connections, and asks. */
export interface Told {
  /** One was taken by the server. */
  onparameter: () => void;
  /** One is gone, or was not to be had. */
  onclose: () => void;
  /** One that had been of use is gone, and not because it had rested for long enough. */
  onbroken: () => void;
  /** Whether it may make another one. */
  mayDial: () => boolean;
}

interface Pool {
  sql: Database;
  /** Those under way. */
  transactions: number;
  /** A connection of it is gone in mid-work, and any transaction on it may be that connection's. */
  isSpent: boolean;
}

/** What a spent pool has under way on its other connections has so long to come to its end. */
const REST_MS = 1_000;

/**
 * A pool that is replaced as a whole when one of its connections is gone in mid-work: the driver (3.4.9) does not get over
 * that. It makes the next connection in the same place, where rows and an error of the last one are still there for the
 * next statement, and where it sometimes forgets to say a first word. The rest of a transaction goes to whatever
 * connection comes next, outside of any transaction, and the rollback of one ends the process. It does not tell whose
 * connection it was, so none of the pool's is used again.
 */
export function renewed(open: (told: Told) => Database): Database {
  const spent = new Set<Promise<void>>();
  let isOver = false;
  let pool = openPool();

  return new Proxy(pool.sql, {
    apply: (_target, self, args) => Reflect.apply(pool.sql, self, args) as unknown,
    get: (_target, property) => {
      if (property === "begin") return (work: Work) => transact(pool, work);
      if (property === "end") return end;
      return Reflect.get(pool.sql, property) as unknown;
    },
  });

  function openPool(): Pool {
    let isServed = false;
    const sql = open({
      onparameter: () => (isServed = true),
      onclose: () => {
        if (isServed && opened.transactions > 0) replace(opened);
      },
      onbroken: () => replace(opened),
      mayDial: () => !opened.isSpent,
    });
    const opened: Pool = { sql, transactions: 0, isSpent: false };
    return opened;
  }

  function replace(gone: Pool): void {
    if (gone.isSpent || isOver) return;
    gone.isSpent = true;
    pool = openPool();
    const ended = retire(gone.sql).finally(() => spent.delete(ended));
    spent.add(ended);
  }

  async function end(options?: { timeout?: number }): Promise<void> {
    isOver = true;
    await Promise.all([pool.sql.end(options), ...spent]);
  }
}

/** All at once: where the driver ends in good order it forgets what waits for a connection. */
async function retire(sql: Database): Promise<void> {
  await sleep(REST_MS);
  await sql.end({ timeout: 0 });
}

type Work = (tx: Queryable) => Promise<unknown>;

/**
 * Once its pool is spent a transaction stands still: no statement, no commit and no rollback, since the driver would
 * send them over another connection. It rejects when its own connection is gone, within `REST_MS`.
 */
async function transact(pool: Pool, work: Work): Promise<unknown> {
  const unlessSpent =
    <Value>(settle: (value: Value) => void) =>
    (value: Value) => {
      if (!pool.isSpent) settle(value);
    };
  pool.transactions++;
  try {
    return await pool.sql.begin(
      (tx) =>
        new Promise((resolve, reject) => {
          work(whileSound(tx, pool)).then(unlessSpent(resolve), unlessSpent(reject));
        }),
    );
  } finally {
    pool.transactions--;
  }
}

function whileSound<Tx extends Queryable>(tx: Tx, pool: Pool): Tx {
  return new Proxy(tx, {
    apply: (target, self, args) => {
      if (pool.isSpent) throw new Error("the transaction's connection is gone");
      return Reflect.apply(target as (...args: unknown[]) => unknown, self, args);
    },
  });
}
