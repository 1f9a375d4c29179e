import type { Queryable } from "./database.ts";

export interface ServerRow {
  version: string;
  fsync: string;
  synchronous_commit: string;
}

/** What the server says of itself. */
export async function findServer(db: Queryable): Promise<ServerRow> {
  const [row] = await db<[ServerRow]>`
    select current_setting('server_version') as version,
           current_setting('fsync') as fsync,
           current_setting('synchronous_commit') as synchronous_commit`;
  return row;
}

/** Whose rights we have. */
export async function findRole(db: Queryable): Promise<string> {
  const [row] = await db<[{ role: string }]>`select current_user as role`;
  return row.role;
}

/** Whether no right is ever denied to us. */
export async function isSuperuser(db: Queryable): Promise<boolean> {
  const [row] = await db<[{ rolsuper: boolean }]>`
    select rolsuper from pg_roles where rolname = current_user`;
  return row.rolsuper;
}

/** Writes one row, and throws where the database does not commit that: at a standby, or while commits hang. */
export async function writeReadiness(db: Queryable): Promise<void> {
  const { count } = await db`update readiness set writes = writes + 1`;
  if (count !== 1) throw new Error("the table readiness has lost its row");
}
