import { pipeline } from "node:stream/promises";
import { hasNoTable, isInUse, type Session } from "../postgres/database.ts";
import {
  beginNoting,
  countNoted,
  endNoting,
  expectNoted,
  forgetNoted,
  keepTable,
  noteChanges,
} from "../postgres/moves/guards.ts";
import { clearSettings } from "../postgres/moves/marks.ts";
import {
  copyStatements,
  createTable,
  deleteNoted,
  digest,
  dropTable,
  emptyTables,
  listTables,
  type MovedTable,
  NOTED,
  type Rows,
} from "../postgres/moves/tables.ts";

/** Both places of a shard that moves. */
export interface Places {
  old: Session;
  new: Session;
}

/** The tables that were copied while the shard was in service, by name, with the number of rows at the new place. */
export type Copied = Map<string, { table: MovedTable; rows: number }>;

/** So few changed rows are copied within milliseconds. */
const FEW_ROWS = 1_000;

/**
 * Copies the tables that stand alone, and what has changed in them meanwhile, until few changes are left or they become no fewer. The
 * old place notes further ones.
 */
export async function copyInService(
  places: Places,
  say: (message: string) => void,
): Promise<Copied> {
  const { old, new: next } = places;
  const copied: Copied = new Map();
  await expectNoted(next.sql);
  await beginNoting(old.sql);
  for (const table of (await listTables(old.sql)).filter((one) => one.standsAlone)) {
    try {
      const one = await copyOne(places, table);
      if (one) copied.set(table.name, one);
    } catch (error) {
      // It has expired, or vacuum works on it. If it is still there later, it is copied while writers wait.
      if (!hasNoTable(error) && !isInUse(error)) throw error;
    }
  }
  say(`${copied.size} tables are copied`);
  for (let before = Infinity; ;) {
    const changes = await old.begin(async () => {
      await old.sql`set transaction isolation level repeatable read`;
      return next.begin(() => copyChanges(places, copied));
    });
    if (changes <= FEW_ROWS || changes > before / 2) return copied;
    before = changes;
  }
}

async function copyOne(
  places: Places,
  listed: MovedTable,
): Promise<{ table: MovedTable; rows: number } | null> {
  const { old } = places;
  await noteChanges(old.sql, listed);
  return old.begin(async () => {
    await old.sql`set transaction isolation level repeatable read`;
    await keepTable(old.sql, listed.name); // Before the snapshot, which the next statement takes.
    const table = (await listTables(old.sql)).find(({ name }) => name === listed.name);
    if (!table) return null;
    await createAnew(places, table, await listTables(places.new.sql));
    return { table, rows: await copy(places, table, "all") };
  });
}

/** Copies the noted rows that this transaction of the old place sees. Returns their number. */
async function copyChanges(places: Places, copied: Copied): Promise<number> {
  const { old, new: next } = places;
  await forgetNoted(next.sql);
  await stream(places, NOTED);
  const tables = await listTables(old.sql);
  let changes = 0;
  for (const { name, count } of await countNoted(next.sql)) {
    const known = copied.get(name);
    if (!known || !tables.some((table) => table.name === name && table.oid === known.table.oid)) {
      continue; // It is copied as a whole while writers wait.
    }
    known.rows -= await deleteNoted(next.sql, known.table);
    known.rows += await copy(places, known.table, "noted");
    changes += count;
  }
  await forgetNoted(old.sql);
  return changes;
}

/** Copies everything that is not there yet, and compares. Only while writers wait. */
export async function copyRest(
  places: Places,
  copied: Copied,
): Promise<{ tables: number; rows: number }> {
  const { old, new: next } = places;
  let rows = 0;
  const tables = await listTables(old.sql);
  await next.begin(async () => {
    await copyChanges(places, copied);
    const there = await listTables(next.sql);
    await dropSurplus(places, tables, there);
    await clearSettings(next.sql);
    for (const table of tables) {
      const known = copied.get(table.name);
      const isThere = known?.table.oid === table.oid && isSame(known.table, table);
      if (!isThere) await createAnew(places, table, there);
      rows += isThere ? known.rows : await copy(places, table, "all");
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

/** Copies rows of a table, and throws unless both places have the same. Returns their number. */
async function copy(places: Places, table: MovedTable, rows: Rows): Promise<number> {
  await stream(places, copyStatements(table, rows));
  const digestOf = ({ sql }: Session) => digest(sql, table, rows);
  const [here, there] = await Promise.all([digestOf(places.old), digestOf(places.new)]);
  if (here.rows === there.rows && here.checksum === there.checksum) return Number(here.rows);
  throw new Error(
    `${table.name} differs at the new place: ${there.rows} rows with the checksum ${there.checksum}, ` +
      `${here.rows} with ${here.checksum} at the old one. The shard stays where it was`,
  );
}

async function stream(
  { old, new: next }: Places,
  { out, into }: { out: string; into: string },
): Promise<void> {
  try {
    await pipeline(old.copyOut(out), next.copyIn(into));
  } catch (error) {
    // The connections are in the middle of a COPY.
    for (const place of [old, next]) place.cut(error as Error);
    throw error;
  }
}

/** After a failed move: stops noting changes at the old place. A table that is in use keeps its trigger, which notes nothing without a move. */
export async function forgetNotes({ old }: Places, copied: Copied): Promise<void> {
  for (const { table } of copied.values()) {
    await endNoting(old.sql, table).catch(() => undefined);
  }
}
