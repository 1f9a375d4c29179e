import { Tally } from "../../lib/tally.ts";
import { type Connection, Connections, type ConnectionsOptions } from "./connections.ts";
import { closed, isBreaking, isFull, isStale } from "./failure.ts";
import type { Answer, Prepared, Row, Run } from "./statement.ts";
import { transact } from "./transaction.ts";
import { Call, type Holder, Waiting } from "./waiting.ts";

export interface PoolOptions extends ConnectionsOptions {
  /** How long the server may take to answer, and how long a statement waits for a connection. */
  silenceMs: number;
  /** How long the pool makes do with fewer connections after a new one was refused. */
  contentMs?: number;
  /**
   * Returns how every transaction begins behind a pooler in transaction mode, on a connection that misses these settings. There,
   * no statement is named or outside of a transaction.
   */
  begin?: ((missing: string[]) => string) | undefined;
}

const CONTENT_MS = 10_000;
/** The share of the connections that one organization may have. Its transactions may wait for each other's locks. */
const HOLDER_SHARE = 1 / 2;

/** For whom a statement or a transaction is, and the time of the monotonic clock at which it is abandoned. */
interface Lending {
  holder?: Holder;
  untilMs?: number;
}

/**
 * Lends a connection to each statement or transaction. The holders take turns, and the calls of one holder come in their order.
 * Organizations have at most half of the connections each, so that none of them has all.
 */
export class Pool {
  readonly #connections: Connections;
  readonly #waiting = new Waiting();
  readonly #max: number;
  readonly #silenceMs: number;
  readonly #contentMs: number;
  readonly #begin: ((missing: string[]) => string) | undefined;
  /** Connections that are lent or being opened for a call. */
  #lent = 0;
  /** The same, of each holder. */
  readonly #held = new Tally<Holder>();
  /** Those of them that are open. */
  #made = 0;
  /** The number that may be lent now. */
  #limit: number;
  #growing: NodeJS.Timeout | undefined;
  #ended: Promise<void> | undefined;
  #onReturn: () => void = () => undefined;

  constructor({ silenceMs, contentMs = CONTENT_MS, begin, ...options }: PoolOptions) {
    this.#connections = new Connections(options);
    this.#max = this.#limit = options.max;
    this.#silenceMs = silenceMs;
    this.#contentMs = contentMs;
    this.#begin = begin;
  }

  /** Runs one statement by itself. */
  run(statement: Prepared, lending: Lending = {}): Promise<Answer<Row[]>> {
    if (this.#begin !== undefined) return this.begin((run) => run(statement), lending);
    return this.#lend(lending, async (ask) => {
      try {
        return await ask(statement);
      } catch (error) {
        if (!isStale(error)) throw error;
        const { text, values = [] } = statement;
        return await ask({ text, values }); // The failed statement has changed nothing.
      }
    });
  }

  begin<Result>(work: (run: Run) => PromiseLike<Result>, lending: Lending = {}): Promise<Result> {
    return this.#lend(lending, (ask, { missing }) => transact(ask, work, this.#begin?.(missing)));
  }

  /** Waits for statements and transactions that have begun. Closes their connections after `graceMs`. */
  end(graceMs: number): Promise<void> {
    return (this.#ended ??= this.#end(graceMs));
  }

  async #end(graceMs: number): Promise<void> {
    const cut = setTimeout(() => {
      this.#waiting.rejectAll(closed());
      this.#connections.cutAll(closed());
    }, graceMs);
    while (this.#lent > 0) await new Promise<void>((resolve) => (this.#onReturn = resolve));
    await this.#connections.end();
    clearTimeout(cut);
    clearTimeout(this.#growing);
  }

  async #lend<Result>(
    { holder = null, untilMs = Infinity }: Lending,
    work: (ask: Run, connection: Connection) => Promise<Result>,
  ): Promise<Result> {
    const limitMs = () => Math.max(0, Math.min(this.#silenceMs, untilMs - performance.now()));
    const connection = await this.#borrow(new Call(holder, limitMs()));
    let isBroken = false;
    try {
      return await work(async (statement) => {
        try {
          return await connection.ask(this.#unname(statement), limitMs());
        } catch (error) {
          isBroken ||= isBreaking(error);
          throw error;
        }
      }, connection);
    } finally {
      this.#giveBack(holder, connection, isBroken);
    }
  }

  #unname(statement: Prepared): Prepared {
    if (this.#begin === undefined) return statement;
    const { text, values = [] } = statement;
    return values.length > 0 ? { text, values } : { text };
  }

  #borrow(call: Call): Promise<Connection> {
    if (this.#ended) call.reject(closed());
    else if (this.#lent < this.#limit && this.#mayBorrow(call.holder)) void this.#start(call);
    else this.#waiting.add(call);
    return call.connection;
  }

  #mayBorrow(holder: Holder): boolean {
    return holder === null || this.#held.of(holder) < Math.max(1, this.#limit * HOLDER_SHARE);
  }

  #giveBack(holder: Holder, connection: Connection, isBroken: boolean): void {
    this.#connections.giveBack(connection, { isBroken });
    this.#made--;
    this.#return(holder);
  }

  #serve(): void {
    while (this.#lent < this.#limit) {
      const call = this.#waiting.takeNext((holder) => this.#mayBorrow(holder));
      if (!call) return;
      void this.#start(call);
    }
  }

  async #start(call: Call): Promise<void> {
    this.#lent++;
    this.#held.add(call.holder);
    try {
      const connection = await this.#connections.take();
      this.#made++;
      if (!call.resolve(connection)) this.#giveBack(call.holder, connection, false);
    } catch (error) {
      this.#refuse(call, error as Error);
      this.#return(call.holder);
    }
  }

  /** If no new connection can be made, an existing one serves the call later. */
  #refuse(call: Call, error: Error): void {
    const others = this.#lent - 1 + this.#connections.idle;
    if (isFull(error) && others > 0) {
      this.#limit = others;
      this.#growing ??= setTimeout(() => this.#grow(), this.#contentMs).unref();
      this.#waiting.putBack(call);
      return;
    }
    call.reject(error);
    // The other calls would fail in the same way, one after the other.
    if (this.#made + this.#connections.idle === 0) this.#waiting.rejectAll(error);
  }

  #grow(): void {
    this.#growing = undefined;
    this.#limit = this.#max;
    this.#serve();
  }

  #return(holder: Holder): void {
    this.#lent--;
    this.#held.remove(holder);
    this.#serve();
    this.#onReturn();
  }
}
