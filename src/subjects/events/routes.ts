import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { type App, EVENTS_BYTES_MAX } from "../../http/app.ts";
import { readTexts } from "../../http/bodies.ts";
import { operatorOf } from "../../http/operator-authentication.ts";
import {
  changeOf,
  logChange,
  operatorProblems,
  readFilters,
  recordAccess,
} from "../../http/operator.ts";
import { BODY_PROBLEMS } from "../../http/problem.ts";
import { readByHand } from "../../http/schema.ts";
import { Crowded, type Fault, PartnerError, requireNoFaults } from "../../lib/errors.ts";
import { parseId } from "../../lib/ids.ts";
import { inSteps } from "../../lib/objects.ts";
import { readBoolean } from "../deliveries/query.ts";
import type { Dependencies } from "../dependencies.ts";
import type { LaterChanges } from "../operators/changes.ts";
import { faultsOfJson } from "./json-document.ts";
import { EVENT_FAULTS_MAX, publishEvents, readEvents } from "./publish.ts";
import { DATA_DEPTH_MAX, eventsIn } from "./rules.ts";
import { EventDetail, EventParams, EventQuery, PublishAnswer, PublishRequest } from "./schema.ts";
import { eraseEventPayload, getEvent } from "./work.ts";

/**
 * Refuses a request if the bodies that are being read, with its own, would take more than `bytesMax`, or those of its operator
 * more than half of that. A body without a length counts as `bodyMax`. Tokens of publishers have no rate limit, and their bodies
 * are large. The room of a body is kept until its handler ends, even if the client has gone.
 */
export function boundBodies(
  app: App,
  { bytesMax, bodyMax }: { bytesMax: number; bodyMax: number },
): void {
  const open = new Map<FastifyRequest, number>();
  const handled = new WeakSet<FastifyRequest>();
  const byOperator = new Map<string, number>();
  let total = 0;

  app.addHook("onRequest", (request, reply, done) => {
    const bytes = Math.min(Number(request.headers["content-length"] ?? bodyMax), bodyMax);
    const own = byOperator.get(operatorOf(request)) ?? 0;
    if (total + bytes > bytesMax || own + bytes > bytesMax / 2) {
      done(new Crowded("Too many large requests are being read: try again.", 1));
      return;
    }
    open.set(request, bytes);
    change(request, bytes);
    reply.raw.once("close", () => {
      if (!handled.has(request)) leave(request); // The body has not arrived, and never will.
    });
    done();
  });
  app.addHook("preValidation", (request, _reply, done) => {
    handled.add(request);
    done();
  });
  // Unlike onResponse, this runs for a client that has gone, too.
  app.addHook("onSend", (request, _reply, payload, done) => {
    leave(request);
    done(null, payload);
  });

  function leave(request: FastifyRequest): void {
    const bytes = open.get(request);
    if (bytes === undefined) return; // It has left before, or was refused.
    open.delete(request);
    change(request, -bytes);
  }

  /** There are as many operators as tokens. */
  function change(request: FastifyRequest, bytes: number): void {
    const operator = operatorOf(request);
    total += bytes;
    byOperator.set(operator, (byOperator.get(operator) ?? 0) + bytes);
  }
}

export function eventRoutes(app: App, deps: Dependencies, later: LaterChanges): void {
  publishEventsRoute(app, deps, later);
  showEventRoute(app, deps);
  erasePayloadRoute(app, deps);
}

function erasePayloadRoute(app: App, deps: Dependencies): void {
  app.delete(
    "/events/:id/payload",
    {
      config: { spread: "one" },
      schema: {
        operationId: "erasePayload",
        tags: ["Events"],
        summary: "Erase the data of an event permanently",
        description:
          "Sets `data` to `{}` and cancels the event's waiting deliveries. An attempt in flight may still finish.",
        params: EventParams,
        response: {
          204: Type.Null({ description: "The data is erased." }),
          ...operatorProblems("not_found"),
        },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      await eraseEventPayload(deps, parseId("evt", id));
      logChange(request, "erase_payload", id);
      return reply.code(204).send(null);
    },
  );
}

/**
 * Adds the published event's id to the request's log line, because the id leads to its attempts. For a batch, the line has the
 * first id, and at `debug` each event has a line of its own.
 */
export function notePublished(request: FastifyRequest, eventIds: readonly string[]): void {
  request.publishedEvent = eventIds[0] ?? null;
  for (const event_id of eventIds) {
    request.log.debug({ request_id: request.id, event_id }, "event published");
  }
}

declare module "fastify" {
  interface FastifyRequest {
    /** Of published events: the faults of the body as JSON text. */
    documentFaults: Fault[];
  }
}

/** All bodies of publishers that are being read or published. */
const BODIES_BYTES_MAX = 64 * 1024 * 1024;

const Query = Type.Object({
  check: Type.Optional(
    Type.Boolean({
      default: false,
      description: "True only looks for faults. Nothing is published.",
    }),
  ),
});

/** Returns true if the events are only to be checked. */
export function isCheck({ query }: Pick<FastifyRequest, "query">): boolean {
  const faults: Fault[] = [];
  const { check } = readFilters(query, Query);
  const isChosen = readBoolean("/check", check, faults) ?? false;
  requireNoFaults(faults);
  return isChosen;
}

/** The levels around the data: the body of one event; the body, the array and the object of a batch. */
const AROUND = { one: 1, batch: 3 };

export function publishEventsRoute(app: App, deps: Dependencies, later: LaterChanges): void {
  app.register((scope: App, _options, done) => {
    boundBodies(scope, { bytesMax: BODIES_BYTES_MAX, bodyMax: EVENTS_BYTES_MAX });
    readStrictly(scope);
    scope.addHook("preHandler", ({ body }, _reply, next) => {
      next(body === undefined ? malformed("") : undefined);
    });
    scope.post(
      "/events",
      {
        bodyLimit: EVENTS_BYTES_MAX,
        config: { spread: "own", servesPublishers: true, takesNoTurn: true, continuesTrace: true },
        schema: {
          operationId: "publishEvents",
          tags: ["Events"],
          summary: "Publish one event, or up to 1,000",
          description:
            "When this responds, the events are durable, with a delivery for each active subscription of the " +
            "organization that lists the type. If any event has a fault, none is published. To repeat a " +
            "request whose response was lost, use the same `dedupe_key`s.",
          body: PublishRequest,
          querystring: Query,
          response: {
            202: PublishAnswer,
            204: Type.Null({ description: "With `check`: the events have no fault." }),
            ...operatorProblems(...BODY_PROBLEMS),
          },
        },
        validatorCompiler: readByHand,
      },
      async (request, reply) => {
        const { body, documentFaults } = request;
        if (isCheck(request)) {
          await readEvents(deps, body, documentFaults);
          return reply.code(204).send(null);
        }
        const published = await publishEvents(deps, body, {
          documentFaults,
          requestId: request.id,
        });
        const items = "items" in published ? published.items : [published];
        notePublished(
          request,
          items.map((item) => item.event_id),
        );
        // With the role `publish`, the events themselves are the record. The log line of the request names the event.
        const written = items.find((item) => !item.duplicate);
        if (request.role !== "publish" && written) {
          later.record(changeOf(request, "publish_events", written.event_id));
        }
        return reply.code(202).send(published);
      },
    );
    done();
  });
}

/** Reads JSON bodies, and finds the faults that parsing would hide. */
function readStrictly(app: App): void {
  app.removeContentTypeParser("application/json");
  readTexts(app, (request, text, done) => {
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      done(malformed(text));
      return;
    }
    const depthMax = DATA_DEPTH_MAX + (eventsIn(body).isBatch ? AROUND.batch : AROUND.one);
    const check = faultsOfJson(text, { depthMax, faultsMax: EVENT_FAULTS_MAX });
    inSteps(check).then((faults) => {
      request.documentFaults = faults;
      done(null, body);
    }, done);
  });
}

function malformed(text: string): PartnerError {
  return new PartnerError(
    "malformed_request",
    text === "" ? "The body is missing: send JSON." : "The body is not valid JSON.",
  );
}

function showEventRoute(app: App, deps: Dependencies): void {
  app.get(
    "/events/:id",
    {
      config: { spread: "one", servesPublishers: true },
      schema: {
        operationId: "getEvent",
        tags: ["Events"],
        summary: "Show an event with its deliveries",
        description:
          "Events of the retention period, test events included. Reading `data` is recorded as a change; with " +
          "`data=false` the response leaves it out, and nothing is recorded.",
        params: EventParams,
        querystring: EventQuery,
        response: { 200: EventDetail, ...operatorProblems("not_found") },
      },
      validatorCompiler: readByHand,
    },
    async (request, reply) => {
      const { data, ...event } = await getEvent(deps, parseId("evt", request.params.id));
      if (readFilters(request.query, EventQuery).data === "false") return event;
      // Publishers read their own events. Access by people is recorded.
      if (request.role !== "publish") await recordAccess(deps, request, event.id);
      // As stored: JavaScript would round numbers of events that SQL published before it refused them.
      const shown = reply.serialize(event) as string;
      reply.type("application/json; charset=utf-8");
      return reply.serializer(() => `${shown.slice(0, -1)},"data":${data}}`).send(event);
    },
  );
}
