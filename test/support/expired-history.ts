import { detachExpiredPartitions } from "../../src/jobs/maintenance-sql.ts";
import { timeOrderedId } from "../../src/lib/ids.ts";
import type { Database, Queryable } from "../../src/postgres/database.ts";
import { ownerOf } from "./database.ts";

const DAY_MS = 86_400_000;

export const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);

/** Creates the partition of events for one day in the past, with one event. Returns the event's id. */
export async function anEventOf(db: Database, days: number): Promise<string> {
  const at = daysAgo(days);
  const since = new Date(Math.floor(at.getTime() / DAY_MS) * DAY_MS);
  const until = new Date(since.getTime() + DAY_MS);
  const owner = ownerOf(db);
  await owner`
    select create_partition(relation, keyed_by_id, ${since}, ${until}) from history
     where relation = 'events'::regclass
       and not exists (select from history_partitions p where p.relation = history.relation and p.since = ${since})`;
  const id = timeOrderedId(at);
  await insertEvent(db, id, at);
  return id;
}

export async function insertEvent(db: Queryable, id: string, at: Date): Promise<void> {
  await db`insert into events (id, organization_number, type, occurred_at, data)
           values (${id}, 1, 'vc.test.ping', ${at}, '{}')`;
}

/** Makes a detached partition of that day the only one that waits for its export. Returns its name. */
export async function aDetachedDay(db: Database, days: number): Promise<string> {
  await detachExpiredPartitions(db, daysAgo(0));
  const owner = ownerOf(db);
  for (const name of await listWaiting(db)) await owner`drop table ${owner(name)}`;
  await owner`delete from history_exports`;
  await anEventOf(db, days);
  await detachExpiredPartitions(db, daysAgo(0));
  const [partition = "", ...others] = await listWaiting(db);
  if (others.length > 0) throw new Error(`more than one partition: ${others.join(", ")}`);
  return partition;
}

export async function listWaiting(db: Database): Promise<string[]> {
  const rows = await db<{ partition: string }[]>`select partition from history_exports order by 1`;
  return rows.map(({ partition }) => partition);
}

export async function isThere(db: Database, table: string): Promise<boolean> {
  const [row] = await ownerOf(db)`select to_regclass(${table}) is not null as there`;
  return row?.["there"] === true;
}
