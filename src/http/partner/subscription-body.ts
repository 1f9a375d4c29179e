import type { preHandlerHookHandler } from "fastify";
import type { Dependencies } from "../../actions/dependencies.ts";
import { invalidRequest } from "../../domain/errors.ts";
import { NOTICE_TYPES } from "../../domain/notices.ts";
import { faultsOf, type Violation } from "../faults.ts";
import { subscriptionRequest } from "../subscription-schema.ts";
import { callerOf } from "./caller.ts";

/**
 * Refuses a body that the route's schema refuses. But the platform's organization may also list notices, which do not exist for
 * others. The route needs `attachValidation`.
 */
export function requireSubscriptionBody({
  eventTypes,
  platformOrganization,
}: Dependencies): preHandlerHookHandler {
  const ofPlatform = subscriptionRequest({ names: [...eventTypes.names, ...NOTICE_TYPES] });
  return (request, _reply, done) => {
    const { validationError } = request;
    const isPlatform = callerOf(request).slug === platformOrganization;
    if (!validationError || !isPlatform || request.body === undefined) {
      done(validationError);
      return;
    }
    const validate = request.compileValidationSchema(ofPlatform, "body");
    const isValid = validate(request.body);
    done(isValid ? undefined : invalidRequest(faultsOf((validate.errors ?? []) as Violation[])));
  };
}
