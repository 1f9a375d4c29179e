import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf } from "../../lib/objects.ts";
import { type Source, type SourceContext, SourceFault } from "../source.ts";
import { PgOutput } from "./pgoutput.ts";
import { isStarting, Session } from "./session.ts";
import { confirm, end, isRoomy, type Replicated, sendStatus, type Stream, take } from "./stream.ts";
import { describe, markSetAside, type Table, type TableSettings } from "./table.ts";

interface ReplicationSettings extends TableSettings {
  url: string;
  slot: string;
  publication: string;
}

/** The server ends a connection that is silent for `wal_sender_timeout`, a minute by default. */
const STATUS_MS = 5_000;
const STANDBY_MS = 1_000;
const IN_USE = "55006";

/**
 * Reads the inserts of a table from a logical replication slot, in the order of commits. Several bridges on one slot: PostgreSQL lets
 * one read, and the next one takes over. The slot moves on when everything before is published, so a crash costs only duplicates.
 */
export class OutboxReplication implements Source<Replicated> {
  readonly isStarting = isStarting;
  readonly #settings: ReplicationSettings;
  readonly #context: SourceContext<Replicated>;
  #stream: Stream | null = null;
  /** For the column in which a reason is kept, and for checks. */
  #writer: { session: Session; table: Table } | null = null;

  constructor(settings: ReplicationSettings, context: SourceContext<Replicated>) {
    this.#settings = settings;
    this.#context = context;
  }

  async receive(max: number, waitMs: number): Promise<Replicated[]> {
    try {
      return await this.#receive(max, waitMs);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async #receive(max: number, waitMs: number): Promise<Replicated[]> {
    const stream = (this.#stream ??= await this.#open());
    if (stream === null) {
      await sleep(Math.min(waitMs, STANDBY_MS), null, { signal: this.#context.stop }).catch(
        () => undefined,
      );
      return [];
    }
    if (stream.rows.length === 0 && stream.failure === null) await this.#wait(stream, waitMs);
    if (stream.failure !== null) throw stream.failure;
    const rows = stream.rows.splice(0, max);
    for (const row of rows) stream.bytes -= row.body.length;
    if (isRoomy(stream)) stream.session.client.connection.stream.resume();
    return rows;
  }

  acknowledge(messages: Replicated[]): Promise<void> {
    for (const { transaction } of messages) transaction.open--;
    if (this.#stream) confirm(this.#stream);
    return Promise.resolve();
  }

  async setAside(message: Replicated, reason: string): Promise<boolean> {
    const { session, table } = await this.#openWriter();
    if (message.identity === null || !(await markSetAside(session, table, message.id, reason))) {
      this.#context.log.warn(
        { message: message.identity },
        "the row is gone, or has no id: the reason is in this log alone",
      );
    }
    await this.acknowledge([message]);
    return true;
  }

  async lag() {
    const { session } = await this.#openWriter();
    const [row] = await session.query<{ bytes: string }>(
      `select pg_current_wal_lsn() - confirmed_flush_lsn as bytes from pg_replication_slots where slot_name = $1`,
      [this.#settings.slot],
    );
    return row === undefined ? null : { bytes: Number(row.bytes) };
  }

  async check() {
    const { session, table } = await this.#openWriter();
    await this.#requireSlot(session, table);
    const { slot, publication } = this.#settings;
    return {
      facts: [`the slot ${slot} and the publication ${publication} serve ${table.name}`],
      first: null,
    };
  }

  async close(): Promise<void> {
    this.#closeStream();
    await this.#writer?.session.close();
    this.#writer = null;
  }

  #closeStream(): void {
    const stream = this.#stream;
    this.#stream = null;
    if (stream !== null) end(stream);
  }

  async #openWriter() {
    if (this.#writer?.session.isLost) this.#writer = null;
    if (this.#writer === null) {
      const session = await Session.open(this.#settings.url);
      try {
        this.#writer = { session, table: await describe(session, this.#settings) };
      } catch (error) {
        await session.close();
        throw error;
      }
    }
    return this.#writer;
  }

  /** Returns null while another bridge reads the slot. */
  async #open(): Promise<Stream | null> {
    const { session: writer, table } = await this.#openWriter();
    const confirmedLsn = await this.#requireSlot(writer, table);
    const session = await Session.open(this.#settings.url, "database");
    const stream: Stream = {
      session,
      table,
      names: this.#settings.columns,
      transactions: [],
      settledLsn: confirmedLsn,
      receivedLsn: confirmedLsn,
      rows: [],
      bytes: 0,
      failure: null,
      wake: () => undefined,
      timer: setInterval(() => sendStatus(stream), STATUS_MS),
    };
    const { connection } = session.client;
    const output = new PgOutput();
    const fail = (error: Error) => {
      stream.failure ??= error;
      stream.wake();
    };
    session.client.on("error", fail);
    connection.on("copyData", ({ chunk }: { chunk: Buffer }) => {
      try {
        take(stream, chunk, output, this.#context.log);
      } catch (error) {
        fail(error as Error);
      }
    });
    const ended = session.client.query(startStatement(this.#settings)).then(() => {
      throw new Error("the server has ended the replication");
    });
    ended.catch(fail);
    try {
      await Promise.race([once(connection, "replicationStart"), ended]);
      return stream;
    } catch (error) {
      end(stream);
      if (codeOf(error) === IN_USE) return null;
      throw error;
    }
  }

  /**
   * Returns the position of the slot. PostgreSQL 18 reads past a publication that is missing, without an error, and what was
   * written meanwhile is gone. So nothing is read before all of it is there.
   */
  async #requireSlot(session: Session, table: Table): Promise<bigint> {
    const { slot } = this.#settings;
    const [found] = await session.query<Record<"plugin" | "lost" | "here" | "lsn", string>>(
      `select plugin, coalesce(to_jsonb(s) ->> 'wal_status', '') = 'lost' or (to_jsonb(s) ->> 'invalidation_reason') is not null as lost,
              database = current_database() as here, confirmed_flush_lsn - '0/0'::pg_lsn as lsn
         from pg_replication_slots s where slot_name = $1`,
      [slot],
    );
    if (!found)
      throw new SourceFault(
        `there is no replication slot ${slot}: create it, and look for rows that were written before`,
      );
    if (found.plugin !== "pgoutput")
      throw new SourceFault(`the slot ${slot} does not use pgoutput`);
    if (found.here !== "t") throw new SourceFault(`the slot ${slot} is of another database`);
    if (found.lost === "t") {
      throw new SourceFault(
        `PostgreSQL has invalidated the slot ${slot}: read the open rows with \`read: rows\`, then create it again`,
      );
    }
    await this.#requirePublication(session, table);
    return BigInt(found.lsn);
  }

  /** It must send what identifies and orders a row. Before PostgreSQL 18 it never sends a generated column. */
  async #requirePublication(session: Session, { oid, name, columns }: Table): Promise<void> {
    const { publication } = this.#settings;
    const [published] = await session.query<{ inserts: string; sent: string }>(
      `select p.pubinsert as inserts, (
                select json_agg(quote_ident(a.attname)) from pg_attribute a
                 where a.attrelid = c.oid and a.attnum > 0 and (to_jsonb(t) -> 'attnames' ? a.attname) is not false
                   and (a.attgenerated = '' or current_setting('server_version_num')::integer >= 180000)) as sent
         from pg_publication p join pg_publication_tables t on t.pubname = p.pubname
         join pg_namespace n on n.nspname = t.schemaname
         join pg_class c on c.relnamespace = n.oid and c.relname = t.tablename
        where p.pubname = $1 and c.oid = $2::oid`,
      [publication, oid],
    );
    if (published?.inserts !== "t") {
      throw new SourceFault(
        `the publication ${publication} is missing, or does not publish the inserts of ${name}`,
      );
    }
    const sent = JSON.parse(published.sent) as string[];
    const needed = [columns.id, columns.key, columns.headers, columns.traceparent];
    const unsent = needed.filter((column) => column !== null && !sent.includes(column));
    if (unsent.length > 0) {
      throw new SourceFault(
        `the publication ${publication} does not send ${unsent.join(", ")} of ${name}: its column list lacks it, or it is generated`,
      );
    }
  }

  async #wait(stream: Stream, ms: number): Promise<void> {
    const woken = new AbortController();
    const wake = () => woken.abort();
    stream.wake = wake;
    this.#context.stop.addEventListener("abort", wake);
    await sleep(ms, null, { signal: woken.signal }).catch(() => undefined);
    this.#context.stop.removeEventListener("abort", wake);
  }
}

function startStatement({ slot, publication }: ReplicationSettings): string {
  const quoted = `"${slot.replaceAll('"', '""')}"`;
  const name = `"${publication.replaceAll('"', '""')}"`.replaceAll("'", "''");
  return `START_REPLICATION SLOT ${quoted} LOGICAL 0/0 (proto_version '1', publication_names '${name}')`;
}
