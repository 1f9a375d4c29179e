import { CommanderError } from "commander";
import { type ErrorCode, type Fault, PartnerError } from "../lib/errors.ts";
import { codeOf } from "../lib/objects.ts";
import { isUnavailable } from "../postgres/database.ts";

/** An error with a one-line explanation. Ends the command. */
export class CommandError extends Error {}

/** The exit status of an invalid command line. A valid command that fails has 1. */
const USAGE = 2;

/** Prints the error to `stderr` and returns the exit status. */
export function explain(
  error: unknown,
  { stderr, showStack = false }: { stderr: (text: string) => void; showStack?: boolean },
): number {
  // Commander has printed it already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;

  stderr(`error: ${describe(error)}\n`);
  if (error instanceof PartnerError) {
    for (const { pointer, detail } of error.faults) stderr(`  ${pointer.slice(1)}: ${detail}\n`);
  } else if (showStack && error instanceof Error) {
    stderr(`${error.stack ?? ""}\n`);
  }
  return 1;
}

/** Says what went wrong, for operators. */
export function describe(error: unknown): string {
  if (error instanceof PartnerError || error instanceof CommandError) return error.message;
  if (!(error instanceof Error)) return String(error);
  if (isUnavailable(error)) return `the database is unavailable: ${error.message}`;
  return error.message === "" ? `${error.name} ${codeOf(error)}`.trim() : error.message;
}

/** A request to the operator API. `path` begins behind `/api/v1/admin`. */
interface OperatorRequest {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  /** JSON. */
  body?: string;
}

interface OperatorAnswer {
  status: number;
  text: string;
}

/** Sends a request to the operator API and returns its answer: over HTTP, or in this process on the database. */
export type Carry = (request: OperatorRequest) => Promise<OperatorAnswer>;

/** Undefined values are left out. */
type Query = Record<string, string | number | boolean | undefined>;

/** The operator API for commands. Throws the server's errors as `PartnerError`. */
export class OperatorApi {
  readonly #carry: Carry;

  constructor(carry: Carry) {
    this.#carry = carry;
  }

  get<Answer>(path: string, query: Query = {}): Promise<Answer> {
    return this.#ask({ method: "GET", path: path + searchOf(query) });
  }

  post<Answer>(path: string, body: object = {}): Promise<Answer> {
    return this.postJson(path, JSON.stringify(body, orText));
  }

  /** Sends the text unchanged, so that the server sees duplicate members. */
  postJson<Answer>(path: string, body: string): Promise<Answer> {
    return this.#ask({ method: "POST", path, body });
  }

  patch<Answer>(path: string, body: object): Promise<Answer> {
    return this.#ask({ method: "PATCH", path, body: JSON.stringify(body, orText) });
  }

  async delete(path: string): Promise<void> {
    await this.#ask({ method: "DELETE", path });
  }

  async #ask<Answer>(request: OperatorRequest): Promise<Answer> {
    const { status, text } = await this.#carry(request);
    if (status === 204) return undefined as Answer;
    const answer = parse(text);
    if (status < 300 && answer !== undefined) return answer as Answer;
    throw toError(status, answer);
  }
}

/** Returns a path. Encodes its values, which are ids and names that operators typed. */
export function at(texts: TemplateStringsArray, ...values: string[]): string {
  return String.raw({ raw: texts }, ...values.map(encodeURIComponent));
}

function searchOf(query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  return given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`;
}

/** JSON has no NaN. An empty text makes the server refuse the value. */
function orText(_name: string, value: unknown): unknown {
  return Number.isNaN(value) ? "" : value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface ProblemBody {
  code: ErrorCode;
  detail: string;
  request_id?: string;
  errors?: Fault[];
}

function toError(status: number, answer: unknown): Error {
  if (!isProblem(answer))
    return new CommandError(
      `not a response of the operator API (status ${status}): PARTNER_API_URL must be the operators' listener`,
    );
  const { code, detail, request_id: id, errors: faults = [] } = answer;
  const message = id === undefined ? detail : `${detail} (request ${id})`;
  return new PartnerError(code, message, { faults });
}

function isProblem(answer: unknown): answer is ProblemBody {
  const { code, detail } = (answer ?? {}) as Partial<ProblemBody>;
  return typeof code === "string" && typeof detail === "string";
}
