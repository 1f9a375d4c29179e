import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import Fastify, {
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  type RouteOptions,
} from "fastify";
import { noSuch, PartnerError } from "../lib/errors.ts";
import { NO_TRACER, type Tracer } from "../lib/tracing.ts";
import { type App, BODY_BYTES_MAX, HEAD_BYTES_MAX } from "./app.ts";
import { askForBodies, decodable, readJsonBodies } from "./bodies.ts";
import { boundConnections, sendClientsAway, watchAnswers } from "./connection-limits.ts";
import { answer, createErrorHandler, createParserErrorHandler } from "./errors.ts";
import { requestIdOf, standardHeaders, timesGiven } from "./headers.ts";
import { cutLongLists, DOCUMENTED } from "./openapi.ts";
import { ProblemSchema } from "./problem.ts";
import { endRequestSpan, RequestLog, traceRequests } from "./request-log.ts";
import { endConnectionsAtStop } from "./stopping.ts";
import { Pipelines } from "./pipelining.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** Node keeps the first 2,000 headers, and drops the rest silently. */
const HEADERS_MAX = 1_000;
const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/;

export type HostCheck = (request: FastifyRequest) => PartnerError | undefined;

/** Returns the fault of a request that its head shows before it reaches a route. `checkHost` checks its host. */
function faultOfHead(
  request: FastifyRequest,
  reply: FastifyReply,
  checkHost: HostCheck,
): PartnerError | undefined {
  const fault = faultOfMessage(request.raw);
  if (fault !== undefined) {
    reply.raw.setHeader("connection", "close"); // A proxy may disagree about the end of this request.
    return fault;
  }
  // We ignore an upgrade, and Node's parser then drops the input behind it.
  if (request.raw.headers.upgrade !== undefined) reply.raw.setHeader("connection", "close");
  const misdirected = checkHost(request);
  if (misdirected || !request.is404) return misdirected;

  const allowed = METHODS.filter((method) => hasRoute(request, method));
  if (allowed.length === 0) return noSuch("resource");

  const methods = allowed.join(", ");
  reply.header("allow", methods);
  return new PartnerError("method_not_allowed", `Allowed methods: ${methods}.`);
}

/** Returns a fault that Node's parser accepts but that other parsers may read differently. */
function faultOfMessage(raw: IncomingMessage): PartnerError | undefined {
  const { httpVersion, headers, rawHeaders } = raw;
  if (rawHeaders.length > 2 * HEADERS_MAX) {
    return new PartnerError(
      "headers_too_large",
      `The request has more than ${HEADERS_MAX} headers.`,
    );
  }
  if (httpVersion !== "1.1" && httpVersion !== "1.0") {
    return new PartnerError("malformed_request", "Use HTTP/1.1.");
  }
  if (headers.host === undefined && httpVersion === "1.1") {
    return new PartnerError("malformed_request", "The Host header is missing.");
  }
  if (timesGiven(raw, "host") > 1 || !HOST.test(headers.host ?? "")) {
    return new PartnerError("malformed_request", "The Host header must name one host.");
  }
  const coding = headers["transfer-encoding"];
  const isKnown = coding === undefined || coding.toLowerCase() === "chunked";
  if (!isKnown || (coding !== undefined && httpVersion === "1.0")) {
    return new PartnerError(
      "malformed_request",
      "The only supported transfer coding is chunked, over HTTP/1.1.",
    );
  }
  return undefined;
}

function hasRoute({ server, url }: FastifyRequest, method: (typeof METHODS)[number]): boolean {
  return (server.findRoute({ method, url }) as object | null) !== null;
}

export interface AppOptions {
  logger: FastifyBaseLogger;
  /** Returns our public URL, without a final slash. Called for each answer, because the port may be known late. */
  baseUrl: () => string;
  /** Returns true if clients are to connect to another node. Default: always false. */
  isStopping?: () => boolean;
  /** Called for each request that is refused because the database is unavailable or overloaded. */
  onUnavailable?: (error: unknown) => void;
  /** Returns the fault of a request's host. Default: every host is allowed. */
  checkHost?: HostCheck;
  timeouts?: Partial<typeof TIMEOUTS_MS>;
  maxConnections?: number;
  /** Default: nothing is traced. */
  tracer?: Tracer;
}

/**
 * Timeouts of a request's head, of the whole request, of our answer, and of an idle connection, between two requests or within
 * one.
 */
const TIMEOUTS_MS = { headers: 10_000, request: 15_000, answer: 25_000, idle: 75_000 };
/** How often Node checks the timeouts. */
const TIMEOUT_CHECKS_MAX_MS = 5_000;

/** More connections would take memory from the deliveries. */
export const CONNECTIONS_MAX = 20_000;

/** The common part of both listeners: how they limit, check, log and refuse requests. */
export function buildApp({
  logger,
  baseUrl,
  isStopping = () => false,
  onUnavailable,
  checkHost = () => undefined,
  timeouts,
  maxConnections,
  tracer = NO_TRACER,
}: AppOptions): App {
  const ms = { ...TIMEOUTS_MS, ...timeouts };
  const sendError = createErrorHandler(baseUrl, onUnavailable);
  const pipelines = new Pipelines();
  const requestLog = new RequestLog(logger);

  const app = Fastify({
    loggerInstance: logger,
    logController: requestLog,
    // No child logger for each request, because our few log lines name the request themselves.
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
      insecureHTTPParser: false, // An option of Node.js for a whole fleet could permit ambiguous requests.
      requireHostHeader: false, // Node's refusal would have a shape of its own.
    },
    forceCloseConnections: "idle",
    return503OnClosing: false, // Requests that have arrived are answered. Then the connection closes.

    routerOptions: {
      ignoreTrailingSlash: true,
      maxParamLength: HEAD_BYTES_MAX, // An overlong id is an unknown id, and not another error.
    },
    exposeHeadRoutes: false,
    ajv: {
      customOptions: { allErrors: true, verbose: true, coerceTypes: false, keywords: [DOCUMENTED] },
    },

    clientErrorHandler: createParserErrorHandler(baseUrl, pipelines),
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
  app.decorateRequest("operator", null);
  app.decorateRequest("publishedEvent", null);
  app.removeContentTypeParser("text/plain");
  readJsonBodies(app);
  app.addHttpMethod("DELETE", { hasBody: false, overrideExisting: true });
  const open = watchAnswers(app, ms.answer, (request, reply) => {
    requestLog.requestAbandoned(request, reply);
    endRequestSpan(request, null);
  });
  endConnectionsAtStop(app, open, { baseUrl, pipelines });
  sendClientsAway(app, { isStopping, pipelines });
  app.addHook("onRequest", ({ id, raw }, reply, done) => {
    reply.headers(standardHeaders(id));
    pipelines.take(raw, reply.raw, done);
  });
  app.addHook("onRequest", (request, reply, done) => {
    done(faultOfHead(request, reply, checkHost));
  });
  traceRequests(app, tracer);
  askForBodies(app);
  cutLongLists(app);
  app.addHook("onResponse", ({ raw }, _reply, done) => {
    pipelines.end(raw);
    done();
  });
  refuseNothingInSilence(app, baseUrl, pipelines);
  return app;
}

/** Without these listeners Node answers some requests in a shape of its own, or not at all. */
function refuseNothingInSilence(
  { server }: App,
  baseUrl: () => string,
  pipelines: Pipelines,
): void {
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    server.emit("request", request, response); // An unknown expectation is ignored.
  });
  server.on("connect", (_request: IncomingMessage, socket: Socket) => {
    socket.on("error", () => undefined); // Node has no listener on this socket any more.
    socket.resume();
    pipelines.takeLast(socket, () => {
      answer(
        socket,
        new PartnerError("malformed_request", "This server is not a proxy, so it refuses CONNECT."),
        baseUrl(),
      );
    });
  });
}
