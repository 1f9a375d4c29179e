import type { FastifyReply, FastifyRequest } from "fastify";
import { type ErrorCode, PartnerError } from "../lib/errors.ts";
import type { Dependencies } from "../subjects/dependencies.ts";
import { noteLimited } from "../subjects/events/limit-notices.ts";
import { admit } from "../subjects/keys/admission.ts";
import { type Allowance, type Caller, type Scope, WINDOW_MS } from "../subjects/keys/rules.ts";
import type { App } from "./app.ts";
import { authorizationOf } from "./headers.ts";
import { problems } from "./problem.ts";

type Admission = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** Every route that `app` registers after this call requires its scope. */
export function guardRoutes(app: App, deps: Dependencies): void {
  // If a route has no scope, the process does not start.
  app.addHook("onRoute", (route) => {
    const scope = route.config?.scope;
    if (!scope) throw new Error(`${String(route.method)} ${route.url} declares no scope`);
    route.onRequest = admission(deps, scope);
  });
}

/** Checks the key, the rate limit and the scope, in this order, before a body is read. */
function admission(deps: Dependencies, scope: Scope): Admission {
  return async (request, reply) => {
    const authorization = authorizationOf(request.raw);
    const { caller, allowance } = await admit(deps, authorization);
    request.caller = caller;

    reply.headers(rateLimitHeaders(allowance));
    if (!allowance.passed) {
      noteLimited(deps, caller);
      throw new PartnerError("rate_limited", "Your organization has reached its rate limit.", {
        retryAfter: allowance.resetSeconds,
      });
    }

    if (!caller.scopes.includes(scope)) {
      throw new PartnerError("insufficient_scope", `This key lacks the scope ${scope}.`);
    }
  };
}

/** As draft-ietf-httpapi-ratelimit-headers defines them. */
function rateLimitHeaders({ limit, remaining, resetSeconds }: Allowance): Record<string, string> {
  return {
    "ratelimit-policy": `"default";q=${limit};w=${WINDOW_MS / 1000}`,
    ratelimit: `"default";r=${remaining};t=${resetSeconds}`,
  };
}

/** Returns the caller, in a handler that only authenticated requests reach. */
export function callerOf({ caller }: Pick<FastifyRequest, "caller">): Caller {
  if (caller === null) throw new Error("the route declares no scope, so it has no caller");
  return caller;
}

/** The errors of a partner's operation, with those that all operations share. */
export function partnerProblems(...codes: ErrorCode[]): object {
  return problems(
    "unauthenticated",
    "insufficient_scope",
    ...codes,
    "rate_limited",
    "internal",
    "unavailable",
  );
}
