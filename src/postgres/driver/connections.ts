import pg from "pg";
import { Client, type ClientOptions } from "./client.ts";
import { failureOfAll, left } from "./failure.ts";
import type { Address } from "./url.ts";

export interface ConnectionsOptions extends ClientOptions {
  addresses: Address[];
  max: number;
  /** How long an unused connection is kept. */
  idleMs: number;
}

export type Connection = Client & pg.PoolClient;

/** Idle and new connections to the primary. */
export class Connections {
  readonly #pool: pg.Pool;
  readonly #addresses: Address[];
  /** All clients with a socket, usable or not. */
  readonly #clients = new Set<Client>();
  readonly #idle = new Set<Client>();
  /** The index of the address that we believe to be the primary. */
  #addressIndex = 0;
  /** The last abandoned connection, until a new one is made. */
  #abandoned: Client | null = null;

  constructor({ addresses, max, idleMs, ...config }: ConnectionsOptions) {
    this.#addresses = addresses;
    const [clients, idle, index] = [this.#clients, this.#idle, () => this.#addressIndex];
    this.#pool = new pg.Pool({
      max,
      idleTimeoutMillis: idleMs,
      Client: class extends Client {
        constructor() {
          super({ ...config, ...addresses[index()] }, index());
          clients.add(this);
          this.once("end", () => [clients, idle].forEach((set) => set.delete(this)));
        }
      },
    });
    this.#pool.on("error", () => undefined); // An idle connection failed. The next statement gets another one.
    this.#pool.on("connect", (client) => this.#arriveAt(requireOurs(client)));
  }

  get idle(): number {
    return this.#pool.idleCount;
  }

  /** Returns an idle connection or a new one. If an address fails, the next one is tried. */
  async take(): Promise<Connection> {
    const failures: Error[] = [];
    while (failures.length < this.#addresses.length) {
      const index = this.#addressIndex;
      try {
        const client = requireOurs(await this.#pool.connect());
        this.#idle.delete(client);
        return client;
      } catch (error) {
        failures.push(error as Error);
        this.#pass(index);
      }
    }
    throw failureOfAll(failures);
  }

  /** Closes a connection that is still in a transaction, which rolls it back. */
  giveBack(connection: Connection, { isBroken }: { isBroken: boolean }): void {
    if (connection.isAbandoned) this.#leave(connection);
    const isOver = isBroken || connection.isAbandoned || connection.getTransactionStatus() !== "I";
    if (!isOver) this.#idle.add(connection);
    connection.release(isOver);
  }

  cutAll(why: Error): void {
    for (const client of this.#clients) client.cut(why);
  }

  /** Closes the server's idle connections, which are dead as well. The next statement connects to the next host first. */
  #leave(connection: Connection): void {
    this.#abandoned = connection;
    this.#pass(connection.addressIndex);
    for (const client of this.#idle) if (isBeside(client, connection)) client.cut(left());
  }

  /** Closes every connection to the host that did not answer, if another host is the primary now. */
  #arriveAt(connection: Connection): void {
    const abandoned = this.#abandoned;
    this.#abandoned = null;
    if (abandoned === null || isBeside(abandoned, connection)) return;
    for (const client of this.#clients) if (isBeside(client, abandoned)) client.cut(left());
  }

  #pass(index: number): void {
    if (this.#addressIndex === index) this.#addressIndex = (index + 1) % this.#addresses.length;
  }

  /** Closes idle connections, and waits until no connection has a socket. */
  async end(): Promise<void> {
    await this.#pool.end();
    await Promise.all(
      [...this.#clients].map((client) => new Promise((ended) => client.once("end", ended))),
    );
  }
}

function isBeside(one: Client, other: Client): boolean {
  return one.host === other.host && one.port === other.port;
}

function requireOurs(client: pg.PoolClient): Connection {
  if (client instanceof Client) return client;
  throw new TypeError("the pool creates clients of another class");
}
