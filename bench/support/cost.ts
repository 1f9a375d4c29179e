import { readdir, readFile } from "node:fs/promises";
import type { Database } from "../../src/postgres/database.ts";

export interface Cost {
  nodeMs: number;
  /** CPU of all processes of the server. Null if it runs on another machine. */
  postgresMs: number | null;
  /** How often a thread or a process of the server has slept until it was woken. */
  nodeWakeUps: number;
  postgresWakeUps: number;
  walBytes: number;
  rows: number;
  indexEntries: number;
}

const TICK_MS = 10;

/** Reads the use of the services and their database since it was opened. */
export class Meter {
  readonly #db: Database;
  readonly #pids: readonly number[];
  readonly #postmaster: number | null;
  #before: Cost | undefined;

  private constructor(db: Database, pids: readonly number[], postmaster: number | null) {
    this.#db = db;
    this.#pids = pids;
    this.#postmaster = postmaster;
  }

  static async open(db: Database, pids: readonly number[]): Promise<Meter> {
    const [{ backend }] = await db<[{ backend: number }]>`select pg_backend_pid() as backend`;
    const meter = new Meter(db, pids, (await statOf(backend))?.parent ?? null);
    meter.#before = await meter.#total();
    return meter;
  }

  async read(): Promise<Cost> {
    const [after, before] = [await this.#total(), this.#before];
    if (before === undefined) throw new Error("the meter is not open");
    const { postgresMs } = after;
    return {
      nodeMs: after.nodeMs - before.nodeMs,
      postgresMs: postgresMs === null ? null : postgresMs - (before.postgresMs ?? 0),
      nodeWakeUps: after.nodeWakeUps - before.nodeWakeUps,
      postgresWakeUps: after.postgresWakeUps - before.postgresWakeUps,
      walBytes: after.walBytes - before.walBytes,
      rows: after.rows - before.rows,
      indexEntries: after.indexEntries - before.indexEntries,
    };
  }

  async #total(): Promise<Cost> {
    const [written] = await this.#db<[{ rows: number; entries: number; wal: number }]>`
      select coalesce(sum(n_tup_ins + n_tup_upd), 0)::float8 as rows,
             coalesce(sum((n_tup_ins + n_tup_upd - n_tup_hot_upd) * indexes), 0)::float8 as entries,
             pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal
        from pg_stat_user_tables t
       cross join lateral (
         select count(*) as indexes from pg_index where indrelid = t.relid and indpred is null
       ) as complete`;
    const own = await Promise.all(this.#pids.map(statOf));
    const server = this.#postmaster === null ? [] : await childrenOf(this.#postmaster);
    return {
      nodeMs: own.reduce((sum, one) => sum + (one?.ownMs ?? 0), 0),
      postgresMs: await this.#serverMs(),
      nodeWakeUps: await wakeUpsOf(this.#pids),
      postgresWakeUps: await wakeUpsOf(server),
      walBytes: written.wal,
      rows: written.rows,
      indexEntries: written.entries,
    };
  }

  /** Its processes, and those that have ended. */
  async #serverMs(): Promise<number | null> {
    if (this.#postmaster === null) return null;
    const all = await Promise.all(
      (await readdir("/proc")).filter(isPid).map((name) => statOf(Number(name))),
    );
    const own = await statOf(this.#postmaster);
    const children = all.filter((one) => one?.parent === this.#postmaster);
    return children.reduce(
      (sum, one) => sum + (one?.ownMs ?? 0),
      (own?.ownMs ?? 0) + (own?.endedMs ?? 0),
    );
  }
}

/** Returns the bytes that history keeps for a delivered event, by table and index. */
export async function keptOf(db: Database): Promise<{ bytes: number; measured: string }> {
  await db`vacuum (analyze) finished_deliveries, events`;
  const [{ events }] = await db<
    [{ events: number }]
  >`select count(*)::int as events from finished_deliveries`;
  const parts = await db<{ name: string; bytes: number }[]>`
    select coalesce(parent_index.relname, h.name || ' table') as name,
           sum(pg_relation_size(c.oid) + case when c.relkind = 'r' then pg_relation_size(c.oid, 'vm') + pg_relation_size(c.oid, 'fsm') else 0 end)::float8 as bytes
      from (values ('events'), ('finished_deliveries')) as h (name)
      join pg_inherits part on part.inhparent = h.name::regclass
      join lateral (
        select part.inhrelid as oid, null::oid as parent
        union all
        select i.indexrelid, up.inhparent from pg_index i left join pg_inherits up on up.inhrelid = i.indexrelid
         where i.indrelid = part.inhrelid
      ) as piece on true
      join pg_class c on c.oid = piece.oid
      left join pg_class parent_index on parent_index.oid = piece.parent
     where pg_relation_size(part.inhrelid) > 0
     group by 1 order by 2 desc`;
  const each = parts.map(({ name, bytes }) => ({ name, bytes: bytes / events }));
  const measured = each.map(({ name, bytes }) => `${name} ${bytes.toFixed(0)}`).join(", ");
  return {
    bytes: each.reduce((sum, { bytes }) => sum + bytes, 0),
    measured: `${events} events: ${measured}`,
  };
}

interface Stat {
  parent: number;
  ownMs: number;
  /** Of its children that have ended. */
  endedMs: number;
}

async function statOf(pid: number): Promise<Stat | null> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
  if (text === null) return null;
  const fields = text
    .slice(text.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
  return {
    parent: fields[1] ?? 0,
    ownMs: (user + system) * TICK_MS,
    endedMs: (endedUser + endedSystem) * TICK_MS,
  };
}

const SLEPT = /^voluntary_ctxt_switches:\s*(\d+)/m;

async function wakeUpsOf(pids: readonly number[]): Promise<number> {
  let sum = 0;
  for (const pid of pids) {
    for (const thread of await readdir(`/proc/${pid}/task`).catch(() => [])) {
      const file = `/proc/${pid}/task/${thread}/status`;
      const status = await readFile(file, "utf8").catch(() => "");
      sum += Number(SLEPT.exec(status)?.[1] ?? 0);
    }
  }
  return sum;
}

/** Returns the processes that a process has started. */
export async function childrenOf(pid: number): Promise<number[]> {
  const pids = (await readdir("/proc")).filter(isPid).map(Number);
  const all = await Promise.all(pids.map(statOf));
  return pids.filter((_, i) => all[i]?.parent === pid);
}

const isPid = (name: string) => /^\d+$/.test(name);
