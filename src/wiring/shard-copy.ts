import { pipeline } from "node:stream/promises";
import { systemClock } from "../domain/clock.ts";
import { hasNoTable, isInUse, type Session } from "../postgres/database.ts";
import { endNoting, keepTable, listChanged, noteChanges } from "../postgres/moves/guards.ts";
import { clearSettings } from "../postgres/moves/marks.ts";
import {
  copyStatements,
  createTable,
  type Digest,
  digest,
  dropTable,
  emptyTables,
  listTables,
  type MovedTable,
} from "../postgres/moves/tables.ts";

/** Both places of a shard that moves. */
export interface Places {
  old: Session;
  new: Session;
}

/** The tables that were copied while the shard was in service, by name, with their content of that time. */
export type Past = Map<string, { table: MovedTable; content: Digest }>;

/** Copies tables whose time is over. From each copy on, the old place notes whether the table changes. */
export async function copyPast(places: Places, say: (message: string) => void): Promise<Past> {
  const { old } = places;
  const past: Past = new Map();
  const isPast = ({ isPast }: MovedTable) => isPast;
  for (const { name } of (await listTables(old.sql, systemClock())).filter(isPast)) {
    try {
      const copied = await copyOne(places, name);
      if (copied) past.set(name, copied);
    } catch (error) {
      // It has expired, or vacuum works on it. If it is still there later, it is copied while writers wait.
      if (!hasNoTable(error) && !isInUse(error)) throw error;
    }
  }
  say(`${past.size} tables are copied`);
  return past;
}

async function copyOne(
  places: Places,
  name: string,
): Promise<{ table: MovedTable; content: Digest } | null> {
  const { old } = places;
  await noteChanges(old.sql, name);
  return old.begin(async () => {
    await old.sql`set transaction isolation level repeatable read`;
    await keepTable(old.sql, name); // Before the snapshot, which the next statement takes.
    const tables = await listTables(old.sql, systemClock());
    const table = tables.find((one) => one.name === name);
    if (!table) return null;
    await createAnew(places, table, await listTables(places.new.sql, systemClock()));
    return { table, content: await copy(places, table) };
  });
}

/** Copies everything that is not there yet, and compares. Only while writers wait. */
export async function copyRest(
  places: Places,
  past: Past,
): Promise<{ tables: number; rows: number }> {
  const { old, new: next } = places;
  const tables = await listTables(old.sql, systemClock());
  const changed = await listChanged(old.sql);
  let rows = 0;
  await next.begin(async () => {
    const there = await listTables(next.sql, systemClock());
    await dropSurplus(places, tables, there);
    await clearSettings(next.sql);
    for (const table of tables) {
      const known = past.get(table.name);
      const isThere =
        known?.table.oid === table.oid && isSame(known.table, table) && !changed.has(table.name);
      if (!isThere) await createAnew(places, table, there);
      rows += Number((isThere ? known.content : await copy(places, table)).rows);
    }
  });
  return { tables: tables.length, rows };
}

function isSame(one: MovedTable, other: MovedTable): boolean {
  return one.bound === other.bound && one.parent === other.parent;
}

/** Drops tables at the new place that the old place no longer has. */
async function dropSurplus(
  { new: next }: Places,
  tables: MovedTable[],
  there: MovedTable[],
): Promise<void> {
  const names = new Set(tables.map(({ name }) => name));
  for (const { name } of there) {
    if (!names.has(name)) await dropTable(next.sql, name);
  }
}

/** Makes the table at the new place, if it is a partition or was one. Such a table is empty afterwards. */
async function createAnew(
  { new: next }: Places,
  table: MovedTable,
  there: MovedTable[],
): Promise<void> {
  if (table.parent === null) return;
  const twin = there.find(({ name }) => name === table.name);
  if (twin !== undefined && isSame(twin, table)) await emptyTables(next.sql, [table]);
  else {
    if (twin !== undefined) await dropTable(next.sql, twin.name);
    await createTable(next.sql, table);
  }
}

/** Copies the rows of a table, and throws unless both places have the same. */
async function copy({ old, new: next }: Places, table: MovedTable): Promise<Digest> {
  const { out, into } = copyStatements(table);
  try {
    await pipeline(old.copyOut(out), next.copyIn(into));
  } catch (error) {
    // The connections are in the middle of a COPY.
    for (const place of [old, next]) place.cut(error as Error);
    throw error;
  }
  const [here, there] = await Promise.all([digest(old.sql, table), digest(next.sql, table)]);
  if (here.rows === there.rows && here.checksum === there.checksum) return here;
  throw new Error(
    `${table.name} differs at the new place: ${there.rows} rows with the checksum ${there.checksum}, ` +
      `${here.rows} with ${here.checksum} at the old one. The shard stays where it was`,
  );
}

/** After a failed move: stops noting changes at the old place. A table that is in use keeps noting; that is harmless. */
export async function forgetNotes({ old }: Places, past: Past): Promise<void> {
  for (const { table } of past.values()) {
    await endNoting(old.sql, table).catch(() => undefined);
  }
}
