import { userInfo } from "node:os";
import pg from "pg";
import { type BackendKey, requestCancel } from "./cancel.ts";
import { explained, failureAt, silence, standby } from "./failure.ts";
import type { Answer, Prepared, Row } from "./statement.ts";

pg.defaults.user ??= userInfo().username; // $USER is not set everywhere.
// The driver's own way takes three times as long.
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) => new Date(text));

export interface ClientOptions extends pg.ClientConfig {
  /** The first statement on a connection through a pooler. It returns whether the server is a standby. */
  opening?: string | undefined;
}

const OPENING_MS = 5_000;

type Told = (error: Error | null, client: pg.Client) => void;

/** A connection to a primary. It keeps what ended it: later the driver tells only that it has ended. */
export class Client extends pg.Client {
  /** What ended the connection; null while it is sound. */
  lost: Error | null = null;
  /** Whether it was cut because the server did not answer in time. */
  isAbandoned = false;
  /** Which of the pool's addresses it was made with. */
  readonly turn: number;
  readonly #opening: string | undefined;
  #isStandby = false;
  #key: BackendKey | null = null;

  constructor({ opening, ...config }: ClientOptions, turn: number) {
    super(config);
    this.#opening = opening;
    this.turn = turn;
    // Without a listener the process would end.
    this.on("error", (error) => (this.lost ??= failureAt(this, error)));
    this.connection.on("parameterStatus", (status: Record<string, string>) => {
      if (status["parameterName"] !== "in_hot_standby") return;
      this.#isStandby = status["parameterValue"] === "on";
    });
    this.connection.on("backendKeyData", (key: BackendKey) => (this.#key = key));
  }

  override connect(): Promise<pg.Client>;
  override connect(told: Told): void;
  override connect(told?: Told): Promise<pg.Client> | undefined {
    const connected = this.#connect();
    if (!told) return connected;
    connected.then(
      () => told(null, this),
      (error: unknown) => told(error as Error, this),
    );
    return undefined;
  }

  /** Fails at a standby: it answers what only reads, and so would keep a connection that was made during a failover. */
  async #connect(): Promise<pg.Client> {
    try {
      await super.connect();
      if (this.#opening !== undefined) await this.#open(this.#opening);
      if (this.#isStandby) throw standby();
      return this;
    } catch (error) {
      this.connection.stream.destroy();
      throw failureAt(this, error as Error);
    }
  }

  /** A pooler does not report whether the server is a standby. */
  async #open(text: string): Promise<void> {
    const [row] = await this.ask({ text }, OPENING_MS);
    this.#isStandby = row?.["is_standby"] === true;
  }

  /** Abandons the connection when the answer takes longer than `limitMs`. */
  async ask(statement: Prepared, limitMs: number): Promise<Answer<Row[]>> {
    const timer = setTimeout(() => this.#abandon(limitMs), limitMs);
    try {
      return answerOf(await this.query<Row>(statement));
    } catch (error) {
      if (error instanceof pg.DatabaseError) throw explained(error);
      throw this.lost ?? error;
    } finally {
      clearTimeout(timer);
    }
  }

  #abandon(limitMs: number): void {
    this.isAbandoned = true;
    this.cut(silence(limitMs));
    if (this.#key) requestCancel(this.host, this.port, this.#key);
  }

  cut(why: Error): void {
    this.connection.stream.destroy(why);
  }
}

/** Of several statements, as a migration has them, nothing is returned. */
function answerOf(result: pg.QueryResult<Row>): Answer<Row[]> {
  if (Array.isArray(result)) return Object.assign([], { count: 0 });
  return Object.assign(result.rows, { count: result.rowCount ?? 0 });
}
