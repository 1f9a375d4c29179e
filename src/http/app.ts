import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
  RouteOptions,
} from "fastify";
import type { Caller, Scope } from "../domain/scope.ts";

declare module "fastify" {
  interface FastifyInstance {
    /** All routes of this listener. Tests use the list to check what must hold for every route. */
    routeTable: RouteOptions[];
  }
  interface FastifyContextConfig {
    /** The scope that this route needs. */
    scope?: Scope;
  }
  interface FastifyRequest {
    /** Null until the request is admitted. On a route with a scope it is set before the handler runs. */
    caller: Caller | null;
  }
}

/** A Fastify whose handlers get their types from the route's TypeBox schemas. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;
