import type { Queryable } from "../../postgres/database.ts";
import { ONLY_CELL } from "../keys/rules.ts";

/** Writes the name of the cell, unless the database has one. Only a role that owns the schema may call it. */
export async function writeCell(db: Queryable, cell: string): Promise<void> {
  await db`insert into settings (name, value) values ('cell', ${cell}) on conflict (name) do nothing`;
}

/** Returns the name of the database's cell. A database without a name is older than cells. */
export async function findCell(db: Queryable): Promise<string> {
  const [row] = await db<{ value: string }[]>`select value from settings where name = 'cell'`;
  return row?.value ?? ONLY_CELL;
}
