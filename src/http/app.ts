import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
  RouteOptions,
} from "fastify";
import type { Caller, Scope } from "../subjects/keys/rules.ts";

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
    /** Null until the request is authenticated. On a route with a scope it is set before the handler runs. */
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

/** The limit of a request's line and headers together. */
export const HEAD_BYTES_MAX = 16 * 1024;
/** The limit of a body that publishes events. */
export const EVENTS_BYTES_MAX = 4 * 1024 * 1024;
export const BODY_BYTES_MAX = 64 * 1024;
