import type { FastifyReply, FastifyRequest } from "fastify";
import type { OverviewReader } from "../../actions/overview-reader.ts";
import { wasEnded } from "../../actions/sessions.ts";
import { Crowded } from "../../domain/errors.ts";
import type { Session } from "../../domain/session.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { operatorOf } from "./admission.ts";
import { operatorProblems } from "./operation.ts";
import { OverviewStreams } from "./overview-streams.ts";

const EVENTS: object = {
  description: "The events.",
  content: { "text/event-stream": { schema: { type: "string" } } },
};

/** `connectionsMax`: the most connections of the listener. */
export function streamOverviewRoute(
  app: App,
  deps: Dependencies,
  { overviews, connectionsMax }: { overviews: OverviewReader; connectionsMax: number },
): void {
  const streams = new OverviewStreams(overviews, connectionsMax);
  app.addHook("preClose", (done) => {
    streams.close();
    done();
  });

  app.get(
    "/overview/live",
    {
      config: { spread: "own", answersWithoutDatabase: true, isStream: true },
      schema: {
        operationId: "streamOverview",
        tags: ["Operation"],
        summary: "Follow the state of the service",
        description:
          "Server-sent events: `overview`, with the data of `GET /overview`, every 2 s and at each change of `status`. " +
          "The stream ends when the session or token ends or the process stops.",
        response: {
          200: EVENTS,
          ...operatorProblems(),
        },
      },
    },
    async (request, reply) =>
      followOverview(streams, { request, reply, isOpen: () => isOpenStill(deps, request.session) }),
  );
}

/** Answers with a stream. It ends when `isOpen`, which is asked from time to time, returns false. */
export function followOverview(
  streams: OverviewStreams,
  {
    request,
    reply,
    isOpen,
  }: { request: FastifyRequest; reply: FastifyReply; isOpen: () => Promise<boolean> },
): FastifyReply {
  const { mayHaveEnded } = request;
  const stream = streams.open(isOpen, { operator: operatorOf(request), mayHaveEnded });
  if (stream === null) throw new Crowded("Too many streams are open: try again.", 10);
  reply.raw.once("close", () => stream.destroy());
  return reply.type("text/event-stream").header("x-accel-buffering", "no").send(stream);
}

/** Tokens are valid as long as the process runs. A session expires, or ends with a sign-out. */
async function isOpenStill(deps: Dependencies, session: Session | null): Promise<boolean> {
  if (session === null) return true;
  return deps.clock() < session.endsAt && !(await wasEnded(deps, session));
}
