import type { Database } from "../../src/postgres/database.ts";
import { Statement } from "../../src/postgres/driver/statement.ts";

/**
 * The same database, but `pass` is called before every statement and commit. It can delay the work
 * or break it off.
 */
export function watched(db: Database, pass: () => Promise<void>): Database {
  return watch(db, pass);
}

function watch<Sql extends object>(sql: Sql, pass: () => Promise<void>): Sql {
  return new Proxy(sql, {
    apply(target, self, args) {
      const made: unknown = Reflect.apply(target as (...args: unknown[]) => unknown, self, args);
      return made instanceof Statement ? held(made, pass) : made;
    },
    get(target, property, receiver) {
      const value: unknown = Reflect.get(target, property, receiver);
      if (property === "within") {
        return (ms: number) => watch((value as (ms: number) => object)(ms), pass);
      }
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

/** A part of a statement never runs by itself, and so is never held. */
function held(statement: Statement<unknown>, pass: () => Promise<void>): object {
  const run = statement.execute.bind(statement);
  let answer: ReturnType<typeof run> | undefined;
  return Object.assign(statement, { execute: () => (answer ??= pass().then(run)) });
}
