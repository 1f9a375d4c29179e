import { setTimeout as sleep } from "node:timers/promises";
import type { Source, SourceContext } from "../source.ts";
import { beforeMarkMs, Rest } from "./rest.ts";
import { isStarting, Session } from "./session.ts";
import {
  countOpen,
  describe,
  markSetAside,
  type OutboxMessage,
  type OutboxRow,
  requireIds,
  requireRights,
  settle,
  type Table,
  type TableSettings,
  toMessage,
} from "./table.ts";

interface RowsSettings extends TableSettings {
  url: string;
  pollMs: number;
}

/** The documents of one read. A single one may be larger. */
const READ_BYTES_MAX = 4 * 1024 * 1024;
/** How often a bridge that stands by asks whether the other one is gone. */
const STANDBY_MS = 250;
/** The plan of a read is kept, and is that of the index also if it was made while the table was short. */
const SETTINGS = "set enable_seqscan = off; set enable_sort = off; set enable_bitmapscan = off";
/** Tells the locks of bridges from those of others. The second half is the table's oid. */
const LOCK = 0x70_61_62_72;

interface Opened {
  session: Session;
  table: Table;
  /** True if this bridge reads the table. Only one does, so that two cannot change the order of a key's rows. */
  leads: boolean;
}

/**
 * Reads the open rows of a table. It never reads from a last id on, because a transaction with a lower id can commit later. Several
 * bridges on one table: one holds an advisory lock and reads, and the next one takes over when its session ends.
 */
export class OutboxRows implements Source<OutboxMessage> {
  readonly isStarting = isStarting;
  readonly #settings: RowsSettings;
  readonly #context: SourceContext<OutboxMessage>;
  #opening: Promise<Opened> | null = null;
  /** The rows that were returned and are not settled. */
  readonly #out = new Set<string>();
  readonly #rest: Rest;
  #rowBytes = READ_BYTES_MAX / 100;

  constructor(settings: RowsSettings, context: SourceContext<OutboxMessage>) {
    this.#settings = settings;
    this.#context = context;
    this.#rest = new Rest(settings.pollMs);
  }

  async receive(max: number, waitMs: number): Promise<OutboxMessage[]> {
    const opened = await this.#open();
    try {
      return await this.#receive(opened, max, waitMs);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async #receive(opened: Opened, max: number, waitMs: number): Promise<OutboxMessage[]> {
    if (!(opened.leads ||= await this.#takeLead(opened))) {
      await this.#pause(Math.min(waitMs, STANDBY_MS));
      return [];
    }
    const restMs = this.#rest.leftMs();
    await this.#pause(Math.min(waitMs, restMs));
    if (restMs > waitMs) return [];
    const beganMs = performance.now();
    const rows = await this.#read(opened, max);
    this.#rest.afterRead(rows.length, max, beganMs);
    const messages = rows.map((row) => toMessage(row, opened.table));
    for (const { id } of messages) this.#out.add(id);
    return messages;
  }

  async acknowledge(messages: OutboxMessage[]): Promise<void> {
    await this.#pause(beforeMarkMs(messages.length));
    const { session, table } = await this.#open();
    const ids = messages.map(({ id }) => id);
    await settle(session, table, ids, this.#context.now());
    for (const id of ids) this.#out.delete(id);
  }

  async setAside({ id }: OutboxMessage, reason: string): Promise<boolean> {
    const { session, table } = await this.#open();
    await markSetAside(session, table, id, reason);
    this.#out.delete(id);
    return true;
  }

  async lag() {
    const { session, table } = await this.#open();
    return { messages: await countOpen(session, table) };
  }

  async check() {
    const opened = await this.#open();
    const { session, table } = opened;
    await requireRights(session, table);
    const [server] = await session.query<{ version: string }>(
      "select current_setting('server_version') as version",
    );
    const open = await countOpen(session, table);
    const facts = [`PostgreSQL ${server?.version ?? ""}, ${open} open rows in ${table.name}`];
    if (!(await this.#hasIndex(opened))) {
      facts.push(
        `the read sorts or scans the whole table: create index on ${table.name} (${table.columns.position}) where ${table.isOpen}`,
      );
    }
    const [first] = await this.#read(opened, 1);
    return { facts, first: first ? toMessage(first, table) : null };
  }

  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = null;
    this.#out.clear();
    await opening?.then(
      ({ session }) => session.close(),
      () => undefined,
    );
  }

  /** Opens a session if there is none, or if the last one was lost. */
  async #open(): Promise<Opened> {
    const opening = (this.#opening ??= this.#connect());
    try {
      const opened = await opening;
      if (!opened.session.isLost) return opened;
    } catch (error) {
      if (this.#opening === opening) this.#opening = null;
      throw error;
    }
    if (this.#opening === opening) await this.close();
    throw new Error("the connection to the database was lost");
  }

  async #connect(): Promise<Opened> {
    const session = await Session.open(this.#settings.url);
    try {
      await session.query(SETTINGS);
      return { session, table: await describe(session, this.#settings), leads: false };
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  async #hasIndex({ session, table }: Opened): Promise<boolean> {
    const text = `explain ${openRows(table)}`;
    const plan = await session.query<{ "QUERY PLAN": string }>(text, [[], 100]);
    const { publishedAt } = table.columns;
    return plan.every(({ "QUERY PLAN": line }) => {
      const readsPublished = publishedAt !== null && line.includes(`${publishedAt} IS NULL`);
      return !readsPublished && !/\bSort\b|Seq Scan/.test(line);
    });
  }

  async #takeLead({ session, table }: Opened): Promise<boolean> {
    const [row] = await session.query<{ locked: string; standby: string }>(
      "select pg_try_advisory_lock(($1::bigint << 32) | $2::bigint) as locked, pg_is_in_recovery() as standby",
      [LOCK, table.oid],
    );
    if (row?.standby === "t")
      throw new Error("the server is a standby, in which no row can be marked");
    return row?.locked === "t";
  }

  async #read({ session, table }: Opened, max: number): Promise<OutboxRow[]> {
    const limit = Math.max(1, Math.min(max, Math.floor(READ_BYTES_MAX / this.#rowBytes)));
    const rows = await session.queryOften<OutboxRow>(readOpen(table), [[...this.#out], limit]);
    requireIds(rows, table);
    const bytes = rows.reduce((sum, row) => sum + row.document.length, 0);
    if (rows.length > 0) this.#rowBytes = bytes / rows.length;
    return rows;
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, null, { signal: this.#context.stop }).catch(() => undefined);
  }
}

/** The total keeps rows that are larger than those before from filling the memory. */
function readOpen(table: Table): string {
  const { columns } = table;
  const column = (quoted: string | null) => (quoted === null ? "null" : `r.${quoted}::text`);
  return `
    with read as materialized (
      select r.${columns.id}::text as id, ${column(columns.key)} as key, ${column(columns.headers)} as headers,
             ${column(columns.traceparent)} as traceparent, row_to_json(r)::text as document, row_number() over () as nth
        from (${openRows(table)}) as r)
    select id, key, headers, traceparent, document
      from (select *, sum(length(document)) over (order by nth) as total from read) as sized
     where nth = 1 or total <= ${READ_BYTES_MAX} order by nth`;
}

/** The first ones that were not returned yet. */
function openRows({ name, columns, idType, isOpen }: Table): string {
  return `
    select * from ${name} where ${isOpen} and ${columns.id} <> all(coalesce($1::text[], '{}')::${idType}[])
     order by ${columns.position} limit $2::integer`;
}
