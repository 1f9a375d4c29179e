import type { Database } from "../../src/postgres/database.ts";

/**
 * The same database, except that `pass` is asked before every statement and before every commit: it may hold the
 * work up there, or break it off by throwing.
 */
export function watched(db: Database, pass: () => Promise<void>): Database {
  return watch(db, pass);
}

function watch<Sql extends object>(sql: Sql, pass: () => Promise<void>): Sql {
  return new Proxy(sql, {
    apply(target, self, args) {
      const made: unknown = Reflect.apply(target as (...args: unknown[]) => unknown, self, args);
      // A fragment of a statement is a query too, which nobody ever awaits.
      return made instanceof Promise ? held(made, pass) : made;
    },
    get(target, property, receiver) {
      const value: unknown = Reflect.get(target, property, receiver);
      if (property !== "begin") return value;
      return (work: Work) => (value as (work: Work) => unknown)((tx) => transact(work, tx, pass));
    },
  });
}

type Work = (tx: object) => Promise<unknown>;

async function transact(work: Work, tx: object, pass: () => Promise<void>): Promise<unknown> {
  const result = await work(watch(tx, pass));
  await pass();
  return result;
}

/** A query runs when it is told to or first awaited; the driver itself awaits it again. */
function held(query: Promise<unknown>, pass: () => Promise<void>): object {
  const run = query.then.bind(query);
  let passed: Promise<void> | undefined;
  const execute = () => {
    passed ??= pass();
    void passed.catch(() => undefined); // Whoever awaits the query hears of it.
    return query;
  };
  const then: typeof run = async (onResult, onError) => {
    void Object.assign(query, { then: run });
    return (passed ?? pass()).then(async () => await run(onResult, onError), onError);
  };
  return Object.assign(query, { then, execute });
}
