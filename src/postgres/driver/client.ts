import { userInfo } from "node:os";
import pg from "pg";
import { type BackendKey, requestCancel } from "./cancel.ts";
import {
  divided,
  explained,
  failureAt,
  NO_ROLE,
  shorten,
  silence,
  standby,
  unproven,
  unwanted,
} from "./failure.ts";
import { mayAsk } from "./parameters.ts";
import type { Answer, Prepared, Row } from "./statement.ts";
import type { SignIn } from "./url.ts";

pg.defaults.user ??= nameOfUser(); // $USER is not set everywhere.
pg.defaults.parseInputDatesAsUTC = true; // PostgreSQL refuses some offsets that TZ can have.
// The driver's own parser takes three times as long.
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) => new Date(text));

/** In a container, a user need not have a name. */
function nameOfUser(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}

export interface ClientOptions extends pg.ClientConfig {
  /** The first statements of a connection. One may return `in_hot_standby`, the last the names of `missing` settings. */
  opening?: readonly string[] | undefined;
  signIn?: SignIn | undefined;
}

/** The type declarations of the driver lack it. */
interface HasParameters {
  connectionParameters: object;
}

const OPENING_MS = 5_000;

/**
 * The driver refuses more than 100,000, and a server may be set to hash a password more often (`scram_iterations`). These take
 * about as long as a connection may. The type declarations lack the option.
 */
const HASHING: object = { scramMaxIterations: 10_000_000 };

/** The setting, and the column of an answer, that is `on` on a standby. */
export const STANDBY = "in_hot_standby";

/** Proves that the server which checks the password is at the other end of the TLS connection. */
const BOUND = "SCRAM-SHA-256-PLUS";

type OnConnect = (error: Error | null, client: pg.Client) => void;

/** A connection to a primary. It keeps the cause of its end, because the driver later reports only that it ended. */
export class Client extends pg.Client {
  /** The cause of the connection's end. Null while it works. */
  lost: Error | null = null;
  /** True if we closed it because the server did not answer in time. */
  isAbandoned = false;
  /** The index of its address in the pool. */
  readonly addressIndex: number;
  /** The names of settings that the opening found missing. */
  missing: string[] = [];
  readonly #opening: readonly string[];
  /** What the server reported as the connection began. Null: nothing. */
  #isStandby: boolean | null = null;
  #key: BackendKey | null = null;

  constructor({ opening = [], signIn, ...config }: ClientOptions, addressIndex: number) {
    super({ ...config, ...HASHING, enableChannelBinding: signIn?.isBound ?? false });
    // Without these, the driver would read PGOPTIONS and PGREPLICATION.
    const { options = "" } = config;
    Object.assign((this as unknown as HasParameters).connectionParameters, {
      options,
      replication: undefined,
    });
    this.#opening = opening;
    this.addressIndex = addressIndex;
    // Without a listener, an error would end the process.
    this.on("error", (error) => (this.lost ??= failureAt(this, error)));
    this.connection.on("errorMessage", shorten);
    this.connection.on("parameterStatus", (status: Record<string, string>) => {
      if (status["parameterName"] !== STANDBY) return;
      this.#isStandby = status["parameterValue"] === "on";
    });
    this.connection.on("backendKeyData", (key: BackendKey) => (this.#key = key));
    if (signIn) this.#watchSignIn(signIn);
  }

  /** Closes the connection before the driver answers a question of the server that the URL does not allow. */
  #watchSignIn({ methods, isBound }: SignIn): void {
    let isAsked = false;
    const judge = (method: string, isProven = false) => {
      isAsked = true;
      if (!mayAsk(methods, method)) this.cut(unwanted(method));
      else if (isBound && !isProven) this.cut(unproven());
    };
    this.connection.on("authenticationCleartextPassword", () => judge("password"));
    this.connection.on("authenticationMD5Password", () => judge("md5"));
    this.connection.on("authenticationSASL", ({ mechanisms }: { mechanisms: string[] }) =>
      judge("scram-sha-256", mechanisms.includes(BOUND)),
    );
    this.connection.on("authenticationOk", () => {
      if (!isAsked) judge("none");
    });
  }

  override connect(): Promise<pg.Client>;
  override connect(onConnect: OnConnect): void;
  override connect(onConnect?: OnConnect): Promise<pg.Client> | undefined {
    const connected = this.#connect();
    if (!onConnect) return connected;
    connected.then(
      () => onConnect(null, this),
      (error: unknown) => onConnect(error as Error, this),
    );
    return undefined;
  }

  /** Throws if the server is a standby. It would serve reads, so a connection from a failover would stay in use. */
  async #connect(): Promise<pg.Client> {
    try {
      if (this.user === undefined) throw new Error(NO_ROLE);
      await super.connect();
      for (const statement of this.#opening) await this.#open(statement);
      if (this.#isStandby) throw standby();
      return this;
    } catch (error) {
      const { stream } = this.connection;
      // The driver has not begun to listen if it could not begin to connect, as to the port 99999.
      if (stream.listenerCount("close") === 0) stream.once("close", () => this.emit("end"));
      stream.destroy();
      throw failureAt(this, this.#isStandby === false ? divided(error as Error) : (error as Error));
    }
  }

  async #open(statement: string): Promise<void> {
    const [row] = await this.ask({ text: statement }, OPENING_MS);
    this.missing = String(row?.["missing"] ?? "").split(",");
  }

  /** Closes the connection if the answer takes longer than `limitMs`. Throws if the answer is that the server is a standby. */
  async ask(statement: Prepared, limitMs: number): Promise<Answer<Row[]>> {
    const timer = setTimeout(() => this.#abandon(limitMs), Math.ceil(limitMs)); // As in `Call`.
    try {
      const answer = answerOf(await this.query<Row>(statement));
      if (answer[0]?.[STANDBY] === "on") throw standby();
      return answer;
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

/** Returns the rows of the last one of several statements in one text. */
function answerOf(result: pg.QueryResult<Row> | pg.QueryResult<Row>[]): Answer<Row[]> {
  const last = Array.isArray(result) ? result.at(-1) : result;
  return Object.assign(last?.rows ?? [], { count: last?.rowCount ?? 0 });
}
