import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Connection, QueryOptions } from "mysql2/promise";
import type { Tls } from "../settings.ts";
import { textOf } from "../document.ts";
import { loadClient, type Source, type SourceContext, SourceFault } from "../source.ts";
import { beforeMarkMs, Rest } from "./rest.ts";
import {
  type Columns,
  columnsOf,
  isOpenIf,
  LAG_MAX,
  type OutboxMessage,
  requireIds,
  stayOpen,
  type TableSettings,
  toMessage,
} from "./table.ts";

export interface MySqlSettings extends TableSettings {
  url: string;
  tls: Tls | null;
  pollMs: number;
}

/** An outbox as its database describes it. Names are quoted. */
interface Table {
  name: string;
  columns: Columns;
  isOpen: string;
  /** How the text of an id is read, and how it is written in a statement. */
  id: { select: string; literal: (id: string) => string };
}

interface Opened {
  connection: Connection;
  table: Table;
  version: string;
  isLost: boolean;
  /** True if this bridge reads the table. */
  leads: boolean;
}

/** Of a column that is asked for by itself, the text is wanted, and of all others a member of the row's JSON. */
const AS_TEXT = "`:text`";
type Row = (string | null)[];

const CONNECT_MS = 10_000;
/** A server that is gone without a word is given up after this time. */
const ANSWER_MS = 45_000;
const READ_BYTES_MAX = 4 * 1024 * 1024;
const STANDBY_MS = 250;
/** The number of a command that is not known. Galera answers with it, too. */
const NOT_JOINED = 1047;
/** The numbers of a change that a server refuses which is read-only, as the old primary after a failover. */
const READ_ONLY: ReadonlySet<number> = new Set([1290, 1792, 1836]);

/**
 * Reads the open rows of a table in MySQL or MariaDB. As in PostgreSQL, it never reads from a last id on, and of several bridges one
 * holds a lock and reads.
 */
export class MySqlRows implements Source<OutboxMessage> {
  readonly #settings: MySqlSettings;
  readonly #context: SourceContext<OutboxMessage>;
  #opening: Promise<Opened> | null = null;
  /** The rows that were returned and are not settled. */
  readonly #out = new Set<string>();
  readonly #rest: Rest;
  #rowBytes = READ_BYTES_MAX / 100;

  constructor(settings: MySqlSettings, context: SourceContext<OutboxMessage>) {
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
    if (!(opened.leads ||= await takeLead(opened))) {
      await this.#pause(Math.min(waitMs, STANDBY_MS));
      return [];
    }
    const restMs = this.#rest.leftMs();
    await this.#pause(Math.min(waitMs, restMs));
    if (restMs > waitMs) return [];
    const beganMs = performance.now();
    const messages = await this.#read(opened, max);
    this.#rest.afterRead(messages.length, max, beganMs);
    for (const { id } of messages) this.#out.add(id);
    return messages;
  }

  async acknowledge(messages: OutboxMessage[]): Promise<void> {
    await this.#pause(beforeMarkMs(messages.length));
    const opened = await this.#open();
    const { publishedAt } = opened.table.columns;
    const now = this.#context.now().toISOString().replace("T", " ").replace("Z", "");
    if (publishedAt === null) await this.#change(opened, messages, null);
    else await this.#change(opened, messages, [publishedAt, now]);
  }

  async setAside(message: OutboxMessage, reason: string): Promise<boolean> {
    const opened = await this.#open();
    await this.#change(opened, [message], [opened.table.columns.setAside, reason]);
    return true;
  }

  /** Writes a value into the rows, or deletes them. Throws a fault if a row stays open. */
  async #change(
    opened: Opened,
    messages: readonly OutboxMessage[],
    mark: [column: string, value: string] | null,
  ): Promise<void> {
    const { name, columns, isOpen, id } = opened.table;
    const which = `where ${columns.id} in (${messages.map((one) => id.literal(one.id)).join(", ")})`;
    if (mark === null) await ask(opened, `delete from ${name} ${which}`);
    else await ask(opened, `update ${name} set ${mark[0]} = ? ${which}`, [mark[1]]);
    const open = await ask(opened, `select 1 from ${name} ${which} and ${isOpen} limit 1`);
    if (open.length > 0) throw stayOpen(name);
    for (const one of messages) this.#out.delete(one.id);
  }

  async lag() {
    return { messages: await countOpen(await this.#open()) };
  }

  async check() {
    const opened = await this.#open();
    const { version, table } = opened;
    await requireRights(opened);
    const facts = [`${version}, ${await countOpen(opened)} open rows in ${table.name}`];
    const plan = await ask(opened, `explain ${this.#select(table, 100)}`);
    if (plan.some((row) => row.some((cell) => cell === "ALL" || cell?.includes("filesort"))))
      facts.push(
        `the read sorts or scans the whole table: create index outbox_open on ${table.name} ` +
          `(${[table.columns.publishedAt, table.columns.position].filter(Boolean).join(", ")})`,
      );
    const [first = null] = await this.#read(opened, 1);
    return { facts, first };
  }

  /** A node of a Galera cluster refuses statements until it has joined. */
  isStarting(error: unknown): boolean {
    return (error as { errno?: unknown }).errno === NOT_JOINED;
  }

  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = null;
    this.#out.clear();
    const opened = await opening?.catch(() => null);
    if (opened?.isLost === false) await opened.connection.end().catch(() => undefined);
    else opened?.connection.destroy();
  }

  /** Opens a connection if there is none, or if the last one was lost. */
  async #open(): Promise<Opened> {
    const opening = (this.#opening ??= this.#connect());
    try {
      const opened = await opening;
      if (!opened.isLost) return opened;
    } catch (error) {
      if (this.#opening === opening) this.#opening = null;
      throw error;
    }
    if (this.#opening === opening) await this.close();
    throw new Error("the connection to the database was lost");
  }

  async #connect(): Promise<Opened> {
    const { default: mysql } = await loadClient("mysql2", () => import("mysql2/promise"));
    const { url, tls } = this.#settings;
    const connection = await mysql.createConnection({
      uri: url.replace(/^mariadb:/, "mysql:"),
      ...{ connectTimeout: CONNECT_MS, enableKeepAlive: true, charset: "utf8mb4" },
      ...(tls === null ? {} : { ssl: { ...tls, verifyIdentity: true } }),
    });
    const opened = { connection, isLost: false, leads: false, version: "" };
    const lose = () => (opened.isLost = true);
    connection.on("error", lose);
    connection.on("end", lose);
    try {
      await connection.query("set time_zone = '+00:00', autocommit = 1, sql_mode = ''");
      return Object.assign(opened, await describe(opened, this.#settings));
    } catch (error) {
      connection.destroy();
      throw error;
    }
  }

  async #read(opened: Opened, max: number): Promise<OutboxMessage[]> {
    const { table } = opened;
    const limit = Math.max(1, Math.min(max, Math.floor(READ_BYTES_MAX / this.#rowBytes)));
    const rows = await ask(opened, this.#select(table, limit), [], memberOf);
    const found = rows.map(
      ([id = null, key = null, headers = null, traceparent = null, ...members]) => ({
        ...{ id, key, headers, traceparent },
        document: `{${members.join(",")}}`,
      }),
    );
    requireIds(found, table);
    const messages = found.map((row) => toMessage(row, table));
    const bytes = messages.reduce((sum, { body }) => sum + body.length, 0);
    if (rows.length > 0) this.#rowBytes = bytes / rows.length;
    return messages;
  }

  #select({ name, columns, isOpen, id }: Table, limit: number): string {
    const asText = (expression: string | null) => `${expression ?? "null"} as ${AS_TEXT}`;
    const texts = [id.select, columns.key, columns.headers, columns.traceparent].map(asText);
    const out = [...this.#out].map(id.literal);
    const others = out.length === 0 ? "" : `and ${columns.id} not in (${out.join(", ")})`;
    return `select ${texts.join(", ")}, ${name}.* from ${name}
             where ${isOpen} ${others} order by ${columns.position} limit ${limit}`;
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, null, { signal: this.#context.stop }).catch(() => undefined);
  }
}

type Field = Parameters<Extract<QueryOptions["typeCast"], (...args: never[]) => unknown>>[0];

async function ask(
  opened: Pick<Opened, "connection"> & { isLost: boolean },
  sql: string,
  values: (string | null)[] = [],
  typeCast: (field: Field) => string | null = textIn,
): Promise<Row[]> {
  if (opened.isLost) throw new Error("the connection to the database was lost");
  const answered = new AbortController();
  try {
    const options = { sql, values, typeCast, rowsAsArray: true };
    const asked = opened.connection.query(options);
    const [rows] = await Promise.race([asked, lateness(answered.signal)]);
    return Array.isArray(rows) ? (rows as Row[]) : [];
  } catch (error) {
    // Only after an answer of the server, the connection can be used. After a failover, the name can lead to another one.
    const { sqlState, errno } = error as { sqlState?: string; errno?: number };
    if (sqlState === undefined || READ_ONLY.has(errno ?? 0)) opened.isLost = true;
    throw error;
  } finally {
    answered.abort();
  }
}

/** The client's own time limit stays set after a connection was lost. */
async function lateness(signal: AbortSignal): Promise<never> {
  await sleep(ANSWER_MS, null, { signal });
  throw new Error(`the database did not answer within ${ANSWER_MS / 1_000} s`);
}

function textIn(field: Field): string | null {
  const bytes = field.buffer();
  return bytes === null ? null : textOf(bytes);
}

const TIMES = new Set(["TIMESTAMP", "DATETIME"]);
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?$/i;
const NUMBERS = new Set([
  "TINY",
  "SHORT",
  "INT24",
  "LONG",
  "LONGLONG",
  "NEWDECIMAL",
  "FLOAT",
  "DOUBLE",
  "YEAR",
]);

/** MariaDB has no type for JSON, but says which text is. A time without a zone is one of UTC. */
function memberOf(field: Field): string | null {
  const { name, type, length, extendedFormat } = field;
  const text = textIn(field);
  if (name === ":text") return text;
  const value = (): string => {
    if (text === null) return "null";
    if (type === "JSON" || extendedFormat === "json") return text;
    if (type === "TINY" && length === 1 && /^[01]$/.test(text)) return String(text === "1");
    if (NUMBERS.has(type) && NUMBER.test(text)) return text;
    return JSON.stringify(TIMES.has(type) ? `${text.replace(" ", "T")}Z` : text);
  };
  return `${JSON.stringify(name)}:${value()}`;
}

/** Throws one fault that names every column that is missing. */
async function describe(
  opened: Parameters<typeof ask>[0],
  settings: MySqlSettings,
): Promise<Pick<Opened, "table" | "version">> {
  const [table = "", schema = null] = settings.table.split(".").reverse();
  const types = await ask(
    opened,
    `select column_name, data_type from information_schema.columns
      where table_schema = coalesce(?, database()) and table_name = ?`,
    [schema, table],
  );
  if (types.length === 0)
    throw new SourceFault(`there is no table ${settings.table}, or no right to see it`);
  const known = new Map(types.map(([name, type]) => [name ?? "", type ?? ""]));
  const name = [schema, table].flatMap((part) => (part === null ? [] : [quoted(part)])).join(".");
  const columns = columnsOf(settings, name, (one) => (known.has(one) ? quoted(one) : null));
  const [[version = ""] = []] = await ask(opened, "select version()");
  return {
    version: `${version?.includes("MariaDB") ? "MariaDB" : "MySQL"} ${/^[0-9.]+/.exec(version ?? "")?.[0] ?? ""}`,
    table: {
      ...{ name, columns, isOpen: isOpenIf(columns) },
      id: idOf(columns.id, known.get(settings.columns.id) ?? ""),
    },
  };
}

function quoted(name: string): string {
  return `\`${name.replaceAll("`", "``")}\``;
}

/** A number in quotes would be compared as a floating-point number, and no index would be used. */
function idOf(column: string, type: string): Table["id"] {
  if (type.includes("binary"))
    return {
      select: `lower(hex(${column}))`,
      literal: (id) => `x'${id.replace(/[^0-9a-f]/g, "")}'`,
    };
  if (/int|decimal/.test(type)) return { select: column, literal: (id) => String(BigInt(id)) };
  return { select: column, literal: (id) => `'${id.replace(/['\\]/g, "\\$&")}'` };
}

/** Tells the locks of bridges from those of others. A name has at most 64 characters. */
async function takeLead(opened: Opened): Promise<boolean> {
  const { name } = opened.table;
  const [[schema] = []] = await ask(opened, "select database()");
  const lock = createHash("sha256")
    .update(`${schema ?? ""}.${name}`)
    .digest("hex")
    .slice(0, 32);
  const taking = "select get_lock(?, 0), @@global.read_only";
  const [[isTaken, isReadOnly] = []] = await ask(opened, taking, [`partner-api:${lock}`]);
  if (isReadOnly !== "0" && isReadOnly !== "OFF")
    throw new Error("the server is read-only: no row can be marked in it");
  return isTaken === "1";
}

async function countOpen(opened: Opened): Promise<number> {
  const { name, isOpen } = opened.table;
  const [[count] = []] = await ask(
    opened,
    `select count(*) from (select 1 from ${name} where ${isOpen} limit ${LAG_MAX}) as open`,
  );
  return Number(count);
}

/** The server checks the rights of a statement that it explains. */
async function requireRights(opened: Opened): Promise<void> {
  const { name, columns } = opened.table;
  const written = [columns.setAside, columns.publishedAt].filter((one) => one !== null);
  const update = `update ${name} set ${written.map((one) => `${one} = null`).join(", ")} where 1 = 0`;
  const statements =
    columns.publishedAt === null ? [update, `delete from ${name} where 1 = 0`] : [update];
  for (const statement of statements) {
    await ask(opened, `explain ${statement}`).catch((error: unknown) => {
      const { errno, sqlMessage } = error as { errno?: number; sqlMessage?: string };
      throw errno !== undefined && DENIED.has(errno) ? new SourceFault(sqlMessage ?? "") : error;
    });
  }
}

const DENIED = new Set([1142, 1143]);
