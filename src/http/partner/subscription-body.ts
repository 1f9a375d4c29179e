import type { FastifyRequest, preHandlerHookHandler } from "fastify";
import type { Dependencies } from "../../actions/dependencies.ts";
import { type Fault, invalidRequest } from "../../domain/errors.ts";
import { NOTICE_TYPES } from "../../domain/notices.ts";
import { faultsOf, type Violation } from "../faults.ts";
import { subscriptionRequest } from "../subscription-schema.ts";
import { callerOf } from "./caller.ts";

type Deps = Pick<Dependencies, "eventTypes" | "platformOrganization">;

/**
 * Refuses a body that the route's schema refuses. But the platform's organization may also list notices, which do not exist for
 * others. The route needs `attachValidation`.
 */
export function requireSubscriptionBody(deps: Deps): preHandlerHookHandler {
  const judge = judgeSubscription(deps);
  return (request, _reply, done) => {
    const { validationError } = request;
    if (!validationError || !isPlatform(deps, request) || request.body === undefined) {
      done(validationError);
      return;
    }
    const faults = judge(request);
    done(faults.length === 0 ? undefined : invalidRequest(faults));
  };
}

/** Returns a function that returns the faults of a new subscription for its caller. */
export function judgeSubscription(deps: Deps): (request: FastifyRequest) => Fault[] {
  const ofPlatform = subscriptionRequest({ names: [...deps.eventTypes.names, ...NOTICE_TYPES] });
  return (request) => {
    const validate = isPlatform(deps, request)
      ? request.compileValidationSchema(ofPlatform, "body")
      : request.getValidationFunction("body");
    return validate?.(request.body) === false
      ? faultsOf((validate.errors ?? []) as Violation[])
      : [];
  };
}

function isPlatform({ platformOrganization }: Deps, request: FastifyRequest): boolean {
  return callerOf(request).slug === platformOrganization;
}
