import type { Queryable } from "./database.ts";

export interface Server {
  version: string;
  fsync: string;
  synchronousCommit: string;
}

/** Returns the server's version, and the settings that decide whether a commit lasts. */
export async function findServer(db: Queryable): Promise<Server> {
  const [row] = await db<[Server]>`
    select current_setting('server_version') as version,
           current_setting('fsync') as fsync,
           current_setting('synchronous_commit') as "synchronousCommit"`;
  return row;
}

/** Returns the current role. */
export async function findRole(db: Queryable): Promise<string> {
  const [row] = await db<[{ role: string }]>`select current_user as role`;
  return row.role;
}

/** Returns true if we are a superuser. */
export async function isSuperuser(db: Queryable): Promise<boolean> {
  const [row] = await db<[{ rolsuper: boolean }]>`
    select rolsuper from pg_roles where rolname = current_user`;
  return row.rolsuper;
}

/** Writes one row. Throws if the database does not commit it, as on a standby or while commits hang. */
export async function writeReadiness(db: Queryable): Promise<void> {
  const { count } = await db`update readiness set writes = writes + 1`;
  if (count !== 1)
    throw new Error(
      "the table readiness has no row: run `insert into readiness (writes) values (0)`",
    );
}
