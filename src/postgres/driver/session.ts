import type { Readable, Writable } from "node:stream";
import { from, to } from "pg-copy-streams";
import { Client, type ClientOptions } from "./client.ts";
import { failureOfAll } from "./failure.ts";
import { createSql, type Sql } from "./sql.ts";
import { transact } from "./transaction.ts";
import type { Address } from "./url.ts";

/** A statement of a session may take this long. */
const STATEMENT_MS = 24 * 3_600_000;

/** One connection to a primary, with COPY. */
export class Session {
  readonly #client: Client;
  readonly sql: Sql;

  private constructor(client: Client) {
    this.#client = client;
    this.sql = createSql((statement) => client.ask(statement, STATEMENT_MS));
  }

  /** Connects to the first address that leads to a primary. */
  static async open(addresses: Address[], options: ClientOptions): Promise<Session> {
    const failures: Error[] = [];
    for (const [turn, address] of addresses.entries()) {
      const client = new Client({ ...options, ...address }, turn);
      try {
        await client.connect();
        return new Session(client);
      } catch (error) {
        failures.push(error as Error);
      }
    }
    throw failureOfAll(failures);
  }

  /** Does the work in one transaction. The work uses `sql` and COPY of this session. */
  begin<Result>(work: () => Promise<Result>): Promise<Result> {
    return transact((statement) => this.#client.ask(statement, STATEMENT_MS), work);
  }

  /** Returns what `copy (…) to stdout` sends. */
  copyOut(statement: string): Readable {
    return this.#client.query(to(statement));
  }

  /** Returns where `copy … from stdin` reads. */
  copyIn(statement: string): Writable {
    return this.#client.query(from(statement));
  }

  /** Closes the connection at once, for example in the middle of a COPY. */
  cut(why: Error): void {
    this.#client.cut(why);
  }

  /** Closes the connection. The server rolls an open transaction back. */
  end(): Promise<void> {
    return this.#client.end();
  }
}
