import type { FastifyRequest } from "fastify";
import type { Caller } from "../../domain/scope.ts";

/** Returns the caller, in a handler that only admitted requests reach. */
export function callerOf({ caller }: Pick<FastifyRequest, "caller">): Caller {
  if (caller === null) throw new Error("the route declares no scope, so it has no caller");
  return caller;
}
