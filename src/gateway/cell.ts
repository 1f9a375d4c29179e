import { type Dispatcher, Pool } from "undici";
import type { Clock } from "../lib/clock.ts";
import type { Check } from "../subjects/activity/rules.ts";
import { CELL_HEADER } from "../subjects/cells/schema.ts";

export interface CellRequest {
  method: Dispatcher.HttpMethod;
  /** The path on the operators' listener, with the query. */
  path: string;
  headers: Record<string, string>;
  body?: string | undefined;
}

export interface CellAnswer {
  status: number;
  headers: Dispatcher.ResponseData["headers"];
  body: Buffer;
}

export interface CellWatch {
  /** Called for each request to a cell. `status`: 0 without an answer. */
  asked: (cell: string, asked: { status: number; seconds: number }) => void;
  /** Called when a cell stops to give usable answers. */
  away: (cell: string, why: string) => void;
  back: (cell: string) => void;
}

/** The cell gave no answer that can be used. */
export class Away extends Error {
  readonly cell: string;
  /** True if it was sent the request, and may have done what that asks for. */
  readonly mayHaveActed: boolean;

  constructor(
    cell: string,
    why: string,
    { cause, mayHaveActed = false }: { cause?: unknown; mayHaveActed?: boolean } = {},
  ) {
    super(`cell ${cell} ${why}`, { cause });
    this.cell = cell;
    this.mayHaveActed = mayHaveActed;
  }
}

/**
 * The longest wait for an answer, and for that to a probe. A cell is probed as often as `slow` says while a read lasts, or while it
 * answers no probe.
 */
const LIMITS_MS = { answer: 10_000, slow: 1_000, probe: 2_000 };
/** The requests of one cell that are open at a time, and those that may wait. */
const CONNECTIONS = 32;
const WAITING_MAX = 1_000;
/** The largest answer. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

/** A cell, over HTTP with kept connections. */
export class Cell {
  readonly name: string;
  readonly #path: string;
  readonly #clock: Clock;
  readonly #watch: CellWatch;
  readonly #ms: typeof LIMITS_MS;
  readonly #requests: Pool;
  readonly #probes: Pool;
  #probing: Promise<Check> | undefined;
  #silence: NodeJS.Timeout | undefined;
  /** Since when it gives no usable answers. Null while it does. */
  awaySince: Date | null = null;

  constructor(
    { name, url }: { name: string; url: string },
    { clock, watch, ms = LIMITS_MS }: { clock: Clock; watch: CellWatch; ms?: typeof LIMITS_MS },
  ) {
    const { origin, pathname } = new URL(url);
    const limits = { connect: { timeout: ms.probe }, maxResponseSize: ANSWER_BYTES_MAX };
    this.name = name;
    this.#ms = ms;
    this.#path = pathname.replace(/\/$/, "");
    this.#clock = clock;
    this.#watch = watch;
    this.#requests = new Pool(origin, { ...limits, connections: CONNECTIONS });
    this.#probes = new Pool(origin, { ...limits, connections: 1 });
  }

  /**
   * Reads. Ends early if the cell answers no probe during the read, and from then on at once, until a probe is answered. So a
   * frozen cell does not delay what others answer.
   */
  async read(request: CellRequest): Promise<CellAnswer> {
    const silence = new AbortController();
    const listen = async () => {
      if (!(await this.probe()).ok) silence.abort();
    };
    const listening = setInterval(() => void listen(), this.#ms.slow);
    const ask = () => this.#ask(request, silence.signal);
    try {
      // A cell that restarts closes kept connections.
      return await ask().catch((error: unknown) => {
        if (isBroken(error as Error)) return ask();
        throw error;
      });
    } finally {
      clearInterval(listening);
    }
  }

  /** Changes. What was sent is waited for, because the cell may have done it. */
  change(request: CellRequest): Promise<CellAnswer> {
    return this.#ask(request);
  }

  /** Checks the cell and its database. One probe serves all who wait for it. */
  probe(): Promise<Check> {
    this.#probing ??= this.#probe().finally(() => (this.#probing = undefined));
    return this.#probing;
  }

  async close(): Promise<void> {
    clearInterval(this.#silence);
    await Promise.all([this.#requests.destroy(), this.#probes.destroy()]);
  }

  async #ask(request: CellRequest, silence?: AbortSignal): Promise<CellAnswer> {
    if (this.#silence) throw new Away(this.name, "does not answer");
    if (this.#requests.stats.queued >= WAITING_MAX)
      throw new Away(this.name, "has too many requests waiting");
    const late = AbortSignal.timeout(this.#ms.answer);
    const over = silence ? AbortSignal.any([late, silence]) : late;
    const begun = performance.now();
    let status = 0;
    try {
      const answer = await this.#send(this.#requests, request, over);
      ({ status } = answer);
      const fault = this.#faultOf(answer, request);
      if (fault !== null) throw new Error(fault);
      this.#judge(null);
      return answer;
    } catch (error) {
      if (silence?.aborted) throw new Away(this.name, "does not answer");
      const why = late.aborted
        ? `has not answered within ${this.#ms.answer / 1000} s`
        : reasonOf(error);
      this.#judge(why);
      throw new Away(this.name, why, { cause: error, mayHaveActed: !isUnsent(error) });
    } finally {
      this.#watch.asked(this.name, { status, seconds: (performance.now() - begun) / 1000 });
    }
  }

  async #send(pool: Pool, request: CellRequest, signal: AbortSignal): Promise<CellAnswer> {
    const { method, headers, body = null } = request;
    const answer = await pool.request({
      ...{ method, headers, body, path: this.#path + request.path, signal },
    });
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: Buffer.from(await answer.body.arrayBuffer()),
    };
  }

  async #probe(): Promise<Check> {
    const fault = await this.#findFault().catch(() => "does not answer");
    if (fault !== null) {
      this.#judge(fault);
      this.#silence ??= setInterval(() => void this.probe(), this.#ms.slow).unref();
    } else if (this.#silence) {
      this.#judge(null);
      clearInterval(this.#silence);
      this.#silence = undefined;
    }
    return { name: this.name, ok: fault === null, detail: fault ?? "works" };
  }

  /** A cell that is not ready for another reason, such as its clock, is not away. */
  async #findFault(): Promise<string | null> {
    const request = { method: "GET", path: "/readyz", headers: {} } as const;
    const { body } = await this.#send(this.#probes, request, AbortSignal.timeout(this.#ms.probe));
    const { checks } = JSON.parse(body.toString()) as { checks: Check[] };
    const database = checks.find(({ name, ok }) => name === "database" && !ok);
    return database ? `database: ${database.detail ?? "unavailable"}` : null;
  }

  #judge(fault: string | null): void {
    if ((fault === null) === (this.awaySince === null)) return;
    this.awaySince = fault === null ? null : this.#clock();
    if (fault === null) this.#watch.back(this.name);
    else this.#watch.away(this.name, fault);
  }

  /** Returns why an answer cannot be used. Null if it can: it is what the cell says of the request. */
  #faultOf({ status, headers, body }: CellAnswer, request: CellRequest): string | null {
    const named = headers[CELL_HEADER] ?? this.name;
    if (named !== this.name) return `calls itself ${String(named)}: correct CELLS`;
    if (status === 421) return "does not know its name in CELLS: its ALLOWED_HOSTS must list it";
    if (status === 401 && request.headers["cookie"] === undefined)
      return "does not know the operator's token: gateway and cells need the same ADMIN_TOKEN";
    if (status >= 500 || status < 200 || (status >= 300 && status < 400) || status === 429)
      return `failed with status ${status}`;
    const isJson = String(headers["content-type"]).includes("json");
    return isJson || body.length === 0 ? null : "is no operators' listener of this service";
  }
}

function isBroken({ cause }: { cause?: unknown }): boolean {
  const { code } = (cause ?? {}) as NodeJS.ErrnoException;
  return code === "UND_ERR_SOCKET" || code === "ECONNRESET";
}

/** Without a connection, nothing was sent. */
function isUnsent(error: unknown): boolean {
  const { code = "", syscall } = error as NodeJS.ErrnoException;
  return syscall === "connect" || syscall === "getaddrinfo" || code === "UND_ERR_CONNECT_TIMEOUT";
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === undefined ? message : `cannot be asked: ${code}`;
}
