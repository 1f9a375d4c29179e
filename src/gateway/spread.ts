import type { FastifyReply, FastifyRequest } from "fastify";
import type { App } from "../http/app.ts";
import { joinSessions, SESSION_COOKIE, sessionsOf } from "../http/operator-authentication.ts";
import { readPageRequest } from "../http/schema.ts";
import type { Spread } from "../http/spread.ts";
import { USER_AGENT } from "../lib/product.ts";
import { parseKeyId } from "../subjects/keys/rules.ts";
import { Away, type CellRequest } from "./cell.ts";
import { type Cells, noAnswer, read, Relayed } from "./cells.ts";
import { type CellPage, COMBINED, EXTRAS, mergePages, MERGES } from "./merge.ts";

/** Answers a request with what a cell says, or with an object. `asked` is the request for a cell. */
export type Respond = (
  request: FastifyRequest,
  asked: CellRequest,
  reply: FastifyReply,
) => Promise<object>;

interface Means {
  cells: Cells;
  /** The gateway's own handlers, by operation. */
  own: ReadonlyMap<string, Respond>;
}

/** Replaces the handlers of all routes that are registered later: they ask the cells. */
export function spreadRoutes(app: App, means: Means): void {
  app.addHook("onRoute", (route) => {
    const { spread, namesCell = false } = route.config ?? {};
    const { operationId = "" } = (route.schema ?? {}) as { operationId?: string };
    const respond = responderOf(spread, operationId, means, namesCell);
    if (respond === undefined)
      throw new Error(`a defect: the gateway cannot answer ${operationId}`);
    route.handler = async (request, reply) => {
      const asked = requestFor(request, spread !== "own");
      const answer = await respond(request, asked, reply).catch(orRelayed);
      return answer instanceof Relayed ? pass(answer, reply, namesCell) : sendJson(answer, reply);
    };
  });
}

function responderOf(
  spread: Spread | undefined,
  operation: string,
  { cells, own }: Means,
  namesCell: boolean,
): Respond | undefined {
  switch (spread) {
    case "one":
      return async (request, asked) => {
        if (asked.method === "GET") return cells.find(asked);
        const cell = await cells.having(idIn(request), asked.headers);
        return new Relayed(cell, await cell.change(asked));
      };
    case "ascending":
    case "descending":
      return async ({ query }, asked) => {
        const { parts, unreachable } = await cells.gather<CellPage>(mergeable(asked));
        const pages = parts.map(({ cell, body }) => (namesCell ? naming(cell.name, body) : body));
        const order = { isAscending: spread === "ascending", combine: COMBINED.get(operation) };
        const { limit } = readPageRequest(query);
        const extras = EXTRAS.get(operation)?.(pages);
        return lacking(unreachable, { ...mergePages(pages, { limit, ...order }), ...extras });
      };
    case "merged": {
      const merge = MERGES.get(operation);
      return (
        merge &&
        (async ({ query }, asked) => {
          const { parts, unreachable } = await cells.gather<never>(mergeable(asked));
          return lacking(unreachable, merge(parts, query as Record<string, unknown>));
        })
      );
    }
    case "first":
      return async (_request, asked) => new Relayed(cells.all[0], await cells.all[0].change(asked));
    case "own":
      return own.get(operation);
    case undefined:
      return undefined;
  }
}

/** Names the cells that did not answer, if there are any. */
export function lacking(unreachable: string[], answer: object): object {
  return unreachable.length === 0 ? answer : { ...answer, unreachable };
}

/** Asks also for what it takes to merge the answer with those of other cells. */
export function mergeable(asked: CellRequest): CellRequest {
  const { pathname, searchParams } = new URL(asked.path, "http://cell");
  searchParams.set("mergeable", "true");
  return { ...asked, path: `${pathname}?${searchParams.toString()}` };
}

/** The request as a cell gets it: with the operator's own token or session, so that the cell checks and records the operator. */
function requestFor(request: FastifyRequest, withBody: boolean): CellRequest {
  const { method, url, headers, session, id, body } = request;
  const { authorization, "x-requested-with": sender, "x-forwarded-proto": scheme } = headers;
  const { traceparent, tracestate } = headers;
  const credentials =
    session === null
      ? { authorization, "x-requested-with": sender }
      : {
          cookie: `${SESSION_COOKIE}=${joinSessions(sessionsOf(request.raw))}`,
          "x-requested-with": "console",
        };
  const all = {
    ...credentials,
    ...{ "x-request-id": id, "user-agent": USER_AGENT, "x-forwarded-proto": scheme },
    ...{ traceparent, tracestate },
    "content-type": body === undefined ? undefined : "application/json",
  };
  const given = Object.entries(all).filter(
    (one): one is [string, string] => typeof one[1] === "string",
  );
  return {
    ...{ method, path: url },
    headers: Object.fromEntries(given),
    body: body === undefined || !withBody ? undefined : JSON.stringify(body),
  };
}

/** Returns the id of the thing that the request is about, from its path or its body. */
function idIn({ params, body }: FastifyRequest): string {
  const { id, key_id: keyId } = params as { id?: string; key_id?: string };
  if (keyId !== undefined) return `vck_${parseKeyId(keyId) ?? ""}`;
  if (id !== undefined) return id;
  const { organization, filter } = body as Named & { filter?: Named & { subscription?: string } };
  return organization ?? filter?.organization ?? filter?.subscription ?? "";
}

interface Named {
  organization?: string;
}

function naming(cell: string, page: CellPage): CellPage {
  return { ...page, items: page.items.map((item) => ({ ...item, cell })) };
}

function orRelayed(error: unknown): Relayed {
  if (error instanceof Relayed) return error;
  if (!(error instanceof Away)) throw error;
  const doubt = "It may have acted all the same: look before you repeat the request.";
  const busy = error.mayHaveActed ? noAnswer([error.cell], doubt) : noAnswer([error.cell]);
  throw Object.assign(busy, { cause: error });
}

/** The headers of a cell's answer that are the caller's. */
const PASSED = ["content-type", "retry-after", "set-cookie", "www-authenticate"];

async function pass({ cell, answer }: Relayed, reply: FastifyReply, namesCell: boolean) {
  const { status, headers } = answer;
  for (const name of PASSED) if (headers[name] !== undefined) reply.header(name, headers[name]);
  const isNamed = namesCell && status < 300 && answer.body.length > 0;
  const body = isNamed ? bytesOf({ ...(read(answer) as object), cell: cell.name }) : answer.body;
  return reply.code(status).send(body.length === 0 ? null : body);
}

function sendJson(answer: object, reply: FastifyReply) {
  if (answer === reply) return reply;
  return reply.type("application/json; charset=utf-8").send(bytesOf(answer));
}

/** As bytes, because the framework would bring text into the form of the route's schema. */
function bytesOf(answer: object): Buffer {
  return Buffer.from(JSON.stringify(answer));
}
