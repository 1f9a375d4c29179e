import pg from "pg";
import { Client } from "./client.ts";
import { failureOfAll } from "./failure.ts";
import type { Address } from "./url.ts";

export interface ConnectionsOptions extends pg.ClientConfig {
  addresses: Address[];
  max: number;
  /** How long a connection is kept that nobody uses. */
  idleMs: number;
}

export type Connection = Client & pg.PoolClient;

/** Connections to the primary, idle ones and new ones. */
export class Connections {
  readonly #pool: pg.Pool;
  readonly #addresses: Address[];
  /** All that have a socket, whether of use or not. */
  readonly #clients = new Set<Client>();
  /** Which of the addresses is the primary's, as far as we know. */
  #turn = 0;

  constructor({ addresses, max, idleMs, ...config }: ConnectionsOptions) {
    this.#addresses = addresses;
    const [clients, address] = [this.#clients, () => addresses[this.#turn]];
    this.#pool = new pg.Pool({
      max,
      idleTimeoutMillis: idleMs,
      Client: class extends Client {
        constructor() {
          super({ ...config, ...address() });
          clients.add(this);
          this.once("end", () => clients.delete(this));
        }
      },
    });
    this.#pool.on("error", () => undefined); // Of an idle one: the next statement gets another one.
  }

  get idle(): number {
    return this.#pool.idleCount;
  }

  /** One that is idle, or a new one. An address is dialled until it fails; then it is the next one's turn. */
  async take(): Promise<Connection> {
    const failures: Error[] = [];
    while (failures.length < this.#addresses.length) {
      const turn = this.#turn;
      try {
        return requireOurs(await this.#pool.connect());
      } catch (error) {
        failures.push(error as Error);
        if (this.#turn === turn) this.#turn = (turn + 1) % this.#addresses.length;
      }
    }
    throw failureOfAll(failures);
  }

  /** One that is in a transaction still is closed, which rolls it back. */
  giveBack(connection: Connection, { isBroken }: { isBroken: boolean }): void {
    connection.release(isBroken || connection.getTransactionStatus() !== "I");
  }

  cutAll(why: Error): void {
    for (const client of this.#clients) client.cut(why);
  }

  /** Closes those that are idle, and waits until none has a socket any more. */
  async end(): Promise<void> {
    await this.#pool.end();
    await Promise.all(
      [...this.#clients].map((client) => new Promise((ended) => client.once("end", ended))),
    );
  }
}

function requireOurs(client: pg.PoolClient): Connection {
  if (client instanceof Client) return client;
  throw new TypeError("the pool makes clients of another class");
}
