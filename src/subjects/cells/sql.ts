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

/** Returns true if `shard move` of release 1.0.0 has begun to fill this database and has not ended, or has left it. */
export async function isBetweenMoves(db: Queryable): Promise<boolean> {
  const marks = await db`select from settings where name in ('arriving', 'moved')`;
  return marks.length > 0;
}
