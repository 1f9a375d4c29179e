import { Type } from "typebox";
import { endSession } from "../../actions/sessions.ts";
import { SESSION_MS } from "../../domain/session.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import type { SignIns } from "./admission.ts";
import { operatorProblems } from "./operation.ts";
import { isBehindHttps, joinSessions, sessionCookie } from "./session-cookie.ts";

export function signOutRoute(app: App, deps: Dependencies, signIns: SignIns): void {
  app.delete(
    "/session",
    {
      config: { spread: "own", servesReaders: true },
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
      if (request.session) await endSession(deps, request.session);
      const others = signIns.foreignSessions(request);
      const cookie = sessionCookie(joinSessions(others), {
        seconds: others.length === 0 ? 0 : SESSION_MS / 1000,
        isSecure: isBehindHttps(request.raw),
      });
      return reply.header("set-cookie", cookie).code(204).send(null);
    },
  );
}
