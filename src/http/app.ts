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
    /** Every route, whoever registers it and wherever: what holds for all of them is tested by this list. */
    routeTable: RouteOptions[];
  }
  interface FastifyContextConfig {
    /** The one scope that this route needs. */
    scope?: Scope;
  }
  interface FastifyRequest {
    /** Null until the request is admitted; before the handler of every route that declares a scope it is. */
    caller: Caller | null;
  }
}

/** A Fastify whose handlers take their types from the route's TypeBox schemas. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;
