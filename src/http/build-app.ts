import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import Fastify, { type FastifyBaseLogger, type RouteOptions } from "fastify";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { PartnerError } from "../domain/errors.ts";
import type { App } from "./app.ts";
import { boundConnections } from "./connection-bound.ts";
import { askForBodies } from "./continue.ts";
import { decodable } from "./decodable.ts";
import { createErrorHandler } from "./errors.ts";
import { readJsonBodies } from "./json-body.ts";
import { BODY_BYTES_MAX, HEAD_BYTES_MAX } from "./limits.ts";
import { cutLongLists } from "./long-lists.ts";
import { watchAnswers } from "./open-answers.ts";
import { answer, createParserErrorHandler } from "./parser-errors.ts";
import { ProblemSchema } from "./problem-schema.ts";
import { RequestLog } from "./request-log.ts";
import { faultOfHead, type HostCheck } from "./route-check.ts";
import { sendClientsAway } from "./send-clients-away.ts";
import { requestIdOf, standardHeaders } from "./standard-headers.ts";
import { endConnectionsAtStop } from "./stopping.ts";
import { Turns } from "./turns.ts";

export interface AppOptions {
  logger: FastifyBaseLogger;
  /** Where we are reached, without a final slash. Asked anew for each answer: a port may be known late. */
  baseUrl: () => string;
  /** Whether clients are to connect to another node from now on. Default: never. */
  isStopping?: () => boolean;
  /** Told of each request that is refused because the database is away or overwhelmed. */
  onUnavailable?: (error: unknown) => void;
  /** What is wrong with the host that a request names. Without it every host is right. */
  checkHost?: HostCheck;
  timeouts?: Partial<typeof TIMEOUTS_MS>;
  maxConnections?: number;
}

/**
 * How long a client may take over the head of a request and over all of it, and we over the answer; and how long a
 * connection may lie idle, between two requests or within one.
 */
const TIMEOUTS_MS = { headers: 10_000, request: 15_000, answer: 25_000, idle: 75_000 };
/** How often Node looks for clients that took too long. */
const TIMEOUT_CHECKS_MAX_MS = 5_000;

/** Beyond this they would cost the deliveries their memory. */
export const CONNECTIONS_MAX = 20_000;

/** What both listeners share: how requests are bounded, checked, logged and refused. */
export function buildApp({
  logger,
  baseUrl,
  isStopping = () => false,
  onUnavailable,
  checkHost = () => undefined,
  timeouts,
  maxConnections,
}: AppOptions): App {
  const ms = { ...TIMEOUTS_MS, ...timeouts };
  const sendError = createErrorHandler(baseUrl, onUnavailable);
  const turns = new Turns();
  const requestLog = new RequestLog(logger);

  const app = Fastify({
    loggerInstance: logger,
    logController: requestLog,
    // No child logger for each request: the few lines that we write name the request themselves.
    childLoggerFactory: (parent) => parent,
    genReqId: requestIdOf,
    rewriteUrl: ({ url = "/" }) => decodable(url),

    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: ms.request,
    connectionTimeout: ms.idle,
    keepAliveTimeout: ms.idle,
    http: {
      headersTimeout: ms.headers,
      requestTimeout: ms.request,
      connectionsCheckingInterval: Math.min(TIMEOUT_CHECKS_MAX_MS, ms.headers),
      maxHeaderSize: HEAD_BYTES_MAX,
      requireHostHeader: false, // Node would refuse in a shape of its own.
    },
    forceCloseConnections: "idle",
    return503OnClosing: false, // What has arrived is answered, and then the connection closes.

    routerOptions: {
      ignoreTrailingSlash: true,
      maxParamLength: HEAD_BYTES_MAX, // An overlong id is an unknown one, not an error of its own.
    },
    exposeHeadRoutes: false,
    ajv: { customOptions: { allErrors: true, verbose: true, coerceTypes: false } },

    clientErrorHandler: createParserErrorHandler(baseUrl, turns),
  }).withTypeProvider<TypeBoxTypeProvider>();

  boundConnections(app, maxConnections ?? CONNECTIONS_MAX);
  const routeTable: RouteOptions[] = [];
  app.decorate("routeTable", routeTable);
  app.addHook("onRoute", (route) => {
    routeTable.push(route);
  });
  app.setErrorHandler(sendError);
  app.addSchema(ProblemSchema);
  app.decorateRequest("caller", null);
  app.decorateRequest("publishedEvent", null);
  app.removeContentTypeParser("text/plain");
  readJsonBodies(app);
  app.addHttpMethod("DELETE", { hasBody: false, overrideExisting: true });
  const open = watchAnswers(app, ms.answer, (request, reply) => {
    requestLog.requestAbandoned(request, reply);
  });
  endConnectionsAtStop(app, open, { baseUrl, turns });
  sendClientsAway(app, { isStopping, turns });
  app.addHook("onRequest", ({ id, raw }, reply, done) => {
    reply.headers(standardHeaders(id));
    turns.take(raw, reply.raw, done);
  });
  app.addHook("onRequest", (request, reply, done) => {
    done(faultOfHead(request, reply, checkHost));
  });
  askForBodies(app);
  cutLongLists(app);
  app.addHook("onResponse", ({ raw }, _reply, done) => {
    turns.end(raw);
    done();
  });
  refuseNothingInSilence(app, baseUrl, turns);
  return app;
}

/** Some requests Node answers in a shape of its own, or not at all, unless somebody listens. */
function refuseNothingInSilence({ server }: App, baseUrl: () => string, turns: Turns): void {
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    server.emit("request", request, response); // An expectation that we do not know is ignored.
  });
  server.on("connect", (_request: IncomingMessage, socket: Socket) => {
    socket.on("error", () => undefined); // Node has let go of it: until it is answered nobody else listens.
    socket.resume();
    turns.takeLast(socket, () => {
      answer(socket, new PartnerError("malformed_request", "This is no proxy."), baseUrl());
    });
  });
}
