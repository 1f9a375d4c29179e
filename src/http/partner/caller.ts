import type { FastifyRequest } from "fastify";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { Caller } from "../../domain/scope.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Those of the caller's shard. Null, like `caller`, until the request is admitted. */
    deps: Dependencies | null;
  }
}

const NO_SCOPE = "the route declares no scope, so it has no caller";

/** Returns the caller, in a handler that only admitted requests reach. */
export function callerOf({ caller }: Pick<FastifyRequest, "caller">): Caller {
  if (caller === null) throw new Error(NO_SCOPE);
  return caller;
}

/** Returns the dependencies of the caller's shard, in such a handler. */
export function depsOf({ deps }: Pick<FastifyRequest, "deps">): Dependencies {
  if (deps === null) throw new Error(NO_SCOPE);
  return deps;
}
