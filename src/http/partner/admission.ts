import type { FastifyReply, FastifyRequest } from "fastify";
import { admit } from "../../actions/admission.ts";
import { noteLimited } from "../../actions/limit-notices.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import { PartnerError } from "../../domain/errors.ts";
import { type Allowance, WINDOW_MS } from "../../domain/rate-window.ts";
import type { Scope } from "../../domain/scope.ts";
import type { App } from "../app.ts";
import { authorizationOf } from "../raw-headers.ts";

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
