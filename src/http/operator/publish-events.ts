import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { EVENT_FAULTS_MAX, publishEvents, readEvents } from "../../actions/publish-events.ts";
import { readBoolean } from "../../actions/queries.ts";
import type { LaterChanges } from "../../actions/changes.ts";
import { DATA_DEPTH_MAX, eventsIn } from "../../domain/event-request.ts";
import { faultsOfJson } from "../../domain/json-document.ts";
import { type Fault, PartnerError, requireNoFaults } from "../../domain/errors.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { inSteps } from "../../lib/in-steps.ts";
import { readTexts } from "../json-body.ts";
import { EVENTS_BYTES_MAX } from "../limits.ts";
import { readByHand } from "../page-schema.ts";
import { BODY_PROBLEMS } from "../problem-schema.ts";
import { notePublished } from "../published-log.ts";
import { boundBodies } from "./body-room.ts";
import { changeOf } from "./changes.ts";
import { PublishAnswer, PublishRequest } from "./event-schema.ts";
import { operatorProblems, readFilters } from "./operation.ts";

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
