import type { Readable } from "node:stream";
import { text as textOf } from "node:stream/consumers";
import type { InjectOptions } from "fastify";
import { pino } from "pino";
import { buildOperatorApp, type OperatorAppOptions } from "../../src/http/operator-app.ts";
import type { Dependencies } from "../../src/subjects/dependencies.ts";
import type { OperatorToken } from "../../src/subjects/operators/rules.ts";

export const OPERATORS: OperatorToken[] = [
  { name: "alice", role: "operate", token: "alice-token-of-thirty-two-letters" },
  { name: "bob", role: "operate", token: "bobs-token-of-more-than-thirty-two-letters" },
];

/** The operators whose tokens permit less than everything. */
export const READER: OperatorToken = {
  name: "rita",
  role: "read",
  token: "ritas-token-that-only-reads-123456",
};
export const PUBLISHER: OperatorToken = {
  name: "orders",
  role: "publish",
  token: "token-of-the-service-for-orders-12",
};

export interface Answer {
  status: number;
  headers: Record<string, unknown>;
  text: string;
  /** The text as JSON. Null if it is not JSON. */
  body: unknown;
}

/** A request of these tests. Default: signed in as alice. Null: without a token. */
export interface Request {
  method?: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  url: string;
  authorization?: string | null;
  /** Additional headers. */
  headers?: Record<string, string>;
  body?: unknown;
  remoteAddress?: string;
}

/** The operators' listener on these dependencies. */
export function startOperatorApi(
  t: { after: (end: () => Promise<unknown>) => void },
  deps: Dependencies,
  options: Partial<OperatorAppOptions> = {},
) {
  const logged: Record<string, unknown>[] = [];
  const sink = {
    write: (line: string) => logged.push(JSON.parse(line) as Record<string, unknown>),
  };
  const app = buildOperatorApp(deps, {
    logger: pino({ level: "info", base: null }, sink),
    baseUrl: () => "https://partners.example.com",
    health: { ready: () => Promise.resolve([{ name: "database", ok: true }]) },
    tokens: [...OPERATORS, READER, PUBLISHER],
    allowedHosts: [],
    metrics: () => Promise.resolve({ contentType: "text/plain; version=0.0.4", body: "up 1\n" }),
    withApi: true,
    ...options,
  });
  t.after(() => app.close());

  return {
    app,
    logged,
    ask,
    /** What the logged changes of this kind have changed. */
    subjectsOf: (action: string) =>
      logged.filter((line) => line["action"] === action).map((line) => line["subject"]),
    /** Every route that needs a token. */
    guardedRoutes: async () => {
      await app.ready();
      return app.routeTable.filter(
        ({ method, url }) =>
          /^\/api\/v1\/admin\/(?!openapi)/.test(url) &&
          !(method === "POST" && url.endsWith("session")),
      );
    },
  };

  async function ask({ method = "GET", body, ...request }: Request): Promise<Answer> {
    const { authorization = `Bearer ${OPERATORS[0]?.token ?? ""}` } = request;
    const url = request.url.startsWith("/") ? request.url : `/api/v1/admin/${request.url}`;
    const injected: InjectOptions = {
      method,
      url,
      headers: { ...request.headers, ...(authorization === null ? {} : { authorization }) },
      ...(request.remoteAddress === undefined ? {} : { remoteAddress: request.remoteAddress }),
      ...(body === undefined ? {} : { payload: body as object }),
    };
    const answer = await app.inject({ ...injected, payloadAsStream: true });
    const { statusCode: status, headers } = answer;
    const text = isEndless(headers) ? endStream(answer.stream()) : await textOf(answer.stream());
    return { status, headers, text, body: parse(text) };
  }
}

/** A stream of events has no end, so these tests read only its head. */
function isEndless(headers: Record<string, unknown>): boolean {
  return headers["content-type"] === "text/event-stream";
}

function endStream(stream: Readable): string {
  stream.destroy();
  return "";
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
