import { Type } from "typebox";
import { endSession } from "../../actions/sessions.ts";
import type { Shards } from "../../actions/shards.ts";
import type { App } from "../app.ts";
import { operatorProblems } from "./operation.ts";
import { isBehindHttps, sessionCookie } from "./session-cookie.ts";

export function signOutRoute(app: App, shards: Shards): void {
  app.delete(
    "/session",
    {
      config: { servesReaders: true },
      schema: {
        operationId: "signOut",
        tags: ["Session"],
        summary: "Sign out of the console",
        description: "Ends the session on every process and removes the cookie.",
        response: {
          204: Type.Null({ description: "The session is over." }),
          ...operatorProblems("cross_site"),
        },
      },
    },
    async (request, reply) => {
      if (request.session) await endSession(shards, request.session);
      const cookie = sessionCookie("", { seconds: 0, isSecure: isBehindHttps(request.raw) });
      return reply.header("set-cookie", cookie).code(204).send(null);
    },
  );
}
