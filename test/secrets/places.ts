import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Database } from "../../src/postgres/database.ts";

/** A place where a secret could leak to. */
export interface Place {
  name: string;
  content: Buffer;
}

/** Copies every table and the statistics views that contain text. */
export async function tablesOf(db: Database): Promise<Place[]> {
  const tables = await db<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name
      from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')
     union all
    select 'pg_stat_activity'
     union all
    select 'pg_settings'
     union all
    select 'pg_stat_statements' where to_regclass('pg_stat_statements') is not null`;
  const places: Place[] = [];
  for (const { name } of tables) {
    const rows = await db.unsafe(`select t::text as row from ${name} t`);
    places.push({
      name: `table ${name}`,
      content: Buffer.from(rows.map(({ row }) => String(row)).join("\n")),
    });
  }
  return places;
}

/** Reads every file below a folder that changed since `since`, except the names in `but`. */
export async function filesBelow(folder: string, but: string[], since: Date): Promise<Place[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && !but.includes(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  const places: Place[] = [];
  for (const path of paths) {
    const place = await read(path, since);
    if (place) places.push(place);
  }
  return places;
}

async function read(path: string, since: Date): Promise<Place | null> {
  try {
    const { mtime } = await stat(path);
    return mtime < since ? null : { name: path, content: await readFile(path) };
  } catch (error) {
    // The server removes files at any time.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
