import type { Database } from "../../src/postgres/database.ts";

/** Lets statements be counted. False where the server has not loaded what counts them. */
export async function watchStatements(db: Database): Promise<boolean> {
  try {
    await db`create extension if not exists pg_stat_statements`;
    await countStatements(db);
    return true;
  } catch {
    return false;
  }
}

/** How many statements this database has executed, `begin` and `commit` included, without this one. */
export async function countStatements(db: Database): Promise<number> {
  const [row] = await db<[{ calls: number }]>`
    select coalesce(sum(calls), 0)::int as calls
      from pg_stat_statements
     where dbid = (select oid from pg_database where datname = current_database())`;
  return row.calls;
}
