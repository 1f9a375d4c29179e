import { Type } from "typebox";
import { beginSession } from "../../actions/sessions.ts";
import { encodeSession, SESSION_MS } from "../../domain/session.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { App } from "../app.ts";
import { BODY_PROBLEMS } from "../problem-schema.ts";
import type { SignIns } from "./admission.ts";
import { operatorProblems } from "./operation.ts";
import { isBehindHttps, joinSessions, sessionCookie } from "./session-cookie.ts";
import { SignIn } from "./session-schema.ts";

const BODY_BYTES_MAX = 4 * 1024;

/** The only route of the operator API without a token in a header. */
export function signInRoute(app: App, deps: Dependencies, signIns: SignIns): void {
  app.post(
    "/session",
    {
      bodyLimit: BODY_BYTES_MAX,
      schema: {
        operationId: "signIn",
        tags: ["Session"],
        summary: "Sign in to the console",
        description:
          "Sets the cookie `partner_api_session`, which replaces the token for 12 hours. With the cookie, a request " +
          "other than GET needs `X-Requested-With: console` or an `Origin` of this listener.",
        security: [],
        body: SignIn,
        response: {
          204: Type.Null({ description: "The cookie is set." }),
          ...operatorProblems(...BODY_PROBLEMS),
        },
      },
    },
    async (request, reply) => {
      const { token } = signIns.check(request, request.body.token);
      const session = encodeSession(beginSession(deps), token);
      const value = joinSessions([session, ...signIns.foreignSessions(request)]);
      const cookie = sessionCookie(value, {
        seconds: SESSION_MS / 1000,
        isSecure: isBehindHttps(request.raw),
      });
      return reply.header("set-cookie", cookie).code(204).send(null);
    },
  );
}
