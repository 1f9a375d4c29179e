import type { Database } from "../../src/postgres/database.ts";

/** Starts counting statements. Returns false if the server has not loaded pg_stat_statements. */
export async function watchStatements(db: Database): Promise<boolean> {
  try {
    await db`create extension if not exists pg_stat_statements`;
    await countStatements(db);
    return true;
  } catch {
    return false;
  }
}

/** The number of statements that this database has executed, with `begin` and `commit`, without this one. */
export async function countStatements(db: Database): Promise<number> {
  const [row] = await db<[{ calls: number }]>`
    select coalesce(sum(calls), 0)::int as calls
      from pg_stat_statements
     where dbid = (select oid from pg_database where datname = current_database())`;
  return row.calls;
}
