import type { Client, CustomTypesConfig, QueryConfig, QueryResultRow } from "pg";
import { codeOf } from "../../lib/objects.ts";
import { loadClient } from "../source.ts";

/** What a session relies on, against other settings of a role or a database. */
const SETTINGS = `
  set datestyle = 'ISO, YMD'; set timezone = 'UTC'; set intervalstyle = 'postgres'; set bytea_output = 'hex';
  set extra_float_digits = 1; set standard_conforming_strings = on; set default_transaction_read_only = off;
  set default_transaction_isolation = 'read committed'; set statement_timeout = '30s'`;

/** A server that is gone without a word is given up after this time. */
const ANSWER_MS = 45_000;

/** One connection to the database of an outbox. Once it is lost, every statement throws. */
export class Session {
  readonly client: Client;
  readonly #names = new Map<string, string>();
  #lost: Error | null = null;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(client: Client) {
    this.client = client;
    client.on("error", (error) => (this.#lost = error));
    client.on("end", () => (this.#lost ??= new Error("the connection to the database has ended")));
  }

  static async open(connectionString: string, replication?: "database"): Promise<Session> {
    const { default: pg } = await loadClient("pg", () => import("pg"));
    const client = new pg.Client({
      connectionString,
      connectionTimeoutMillis: 10_000,
      keepAlive: true,
      application_name: "partner-api bridge",
      ...(replication === undefined ? { query_timeout: ANSWER_MS } : { replication }),
    });
    const session = new Session(client);
    await client.connect();
    await client.query(SETTINGS);
    return session;
  }

  get isLost(): boolean {
    return this.#lost !== null;
  }

  /** One statement after the other. Every value of a row is text or null. */
  query<Row extends QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return this.#ask({ text, values });
  }

  /** The same, for a text that comes again and again: it is parsed once, and its plan is kept. */
  queryOften<Row extends QueryResultRow>(text: string, values: unknown[]): Promise<Row[]> {
    let name = this.#names.get(text);
    if (name === undefined) this.#names.set(text, (name = `partner_api_${this.#names.size}`));
    return this.#ask({ text, values, name });
  }

  #ask<Row extends QueryResultRow>(query: QueryConfig): Promise<Row[]> {
    const asked = this.#last.then(async () => {
      if (this.#lost !== null) throw this.#lost;
      return (await this.client.query<Row>({ ...query, types: TEXTS })).rows;
    });
    this.#last = asked.catch(() => undefined);
    return asked;
  }

  async close(): Promise<void> {
    if (this.#lost === null) await this.client.end();
    else this.client.connection.stream.destroy();
  }
}

const CANNOT_CONNECT_NOW = "57P03";

/** True while the server starts, recovers, or stops. */
export function isStarting(error: unknown): boolean {
  return codeOf(error) === CANNOT_CONNECT_NOW;
}

const asItIs = (value: string) => value;
const TEXTS: CustomTypesConfig = { getTypeParser: () => asItIs };
