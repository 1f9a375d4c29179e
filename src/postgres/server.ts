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

/** Whether it answers at all, however long that takes. */
export async function answers(db: Queryable): Promise<boolean> {
  return db`select 1`.then(
    () => true,
    () => false,
  );
}
