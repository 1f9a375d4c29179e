import { randomBytes } from "node:crypto";
import type { FastifyBaseLogger } from "fastify";
import type { Carry } from "../commands/operator-api.ts";
import type { Config } from "../config/config.ts";
import { buildOperatorApp } from "../http/operator-app.ts";
import { USER_AGENT } from "../lib/product.ts";
import type { Dependencies } from "../subjects/dependencies.ts";

/** The operator's name in the record of changes, for commands on the database. */
const COMMAND_LINE = "command line";

/**
 * The operator API on the database, without a listener. So commands do the same in both ways. Unexpected errors are thrown,
 * where a server would hide them.
 */
export function operatorApiInProcess(deps: Dependencies): {
  carry: Carry;
  close: () => Promise<void>;
} {
  const token = randomBytes(32).toString("base64url");
  const failed = new Set<Error>();
  const note = (error: unknown) => failed.add(toError(error));
  const app = buildOperatorApp(deps, {
    logger: errorsOnly(note),
    onUnavailable: note,
    baseUrl: () => "",
    health: { ready: () => Promise.resolve([]) },
    tokens: [{ name: COMMAND_LINE, role: "operate", token }],
    allowedHosts: [],
    metrics: () => Promise.resolve({ contentType: "text/plain", body: "" }),
    withApi: true,
  });

  return { carry, close: async () => app.close() };

  async function carry({ method, path, body }: Parameters<Carry>[0]): ReturnType<Carry> {
    failed.clear();
    const answer = await app.inject({
      method,
      url: `/api/v1/admin${path}`,
      headers: {
        authorization: `Bearer ${token}`,
        "x-requested-with": "command-line",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { payload: body }),
    });
    const { statusCode: status, payload: text } = answer;
    if (status >= 500) for (const error of failed) throw error;
    return { status, text: status < 400 ? text : withoutRequest(text) };
  }
}

/** Removes the request id, because no log has it. */
function withoutRequest(text: string): string {
  const problem = JSON.parse(text) as object;
  return JSON.stringify({ ...problem, request_id: undefined });
}

/** Passes on the exception of a failed request. Ignores what else a server logs. */
function errorsOnly(note: (error: unknown) => void): FastifyBaseLogger {
  const ignore = () => undefined;
  const log: FastifyBaseLogger = {
    level: "error",
    ...{ fatal: ignore, warn: ignore, info: ignore, debug: ignore, trace: ignore, silent: ignore },
    error: (facts: unknown) => note((facts as { err?: unknown }).err),
    child: () => log,
  };
  return log;
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** A request may take long if it publishes 1,000 events, for example. */
const ANSWER_MS = 30_000;

/** The operator API of a running service. Follows no redirects, because the token is for this server only. */
export function operatorApiOverHttp(
  { url, token }: NonNullable<Config["operatorApi"]>,
  answerMs = ANSWER_MS,
): Carry {
  return async ({ method, path, body }) => {
    try {
      const answer = await fetch(`${url}/api/v1/admin${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          "x-requested-with": "command-line",
          "user-agent": USER_AGENT,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        body: body ?? null,
        redirect: "error",
        signal: AbortSignal.timeout(answerMs),
      });
      return { status: answer.status, text: await answer.text() };
    } catch (error) {
      throw new Error(`PARTNER_API_URL ${url}: ${reasonOf(error, answerMs)}`, { cause: error });
    }
  };
}

function reasonOf(error: unknown, answerMs: number): string {
  const { name, message, cause } = error as Error;
  if (name === "TimeoutError") return `no response within ${answerMs / 1000} s`;
  // If a host has several addresses, the error that holds theirs has no message.
  const { message: words, code = "" } = (cause ?? new Error()) as NodeJS.ErrnoException;
  return [words, code, message].find((text) => text !== "") ?? name;
}
