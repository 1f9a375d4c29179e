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

/** Whether it takes writes: a standby only reads, and so does a database that was set to. Throws where nothing answers. */
export async function takesWrites(db: Queryable): Promise<boolean> {
  const [row] = await db<[{ takes: boolean }]>`
    select current_setting('transaction_read_only') = 'off' as takes`;
  return row.takes;
}
