import swagger from "@fastify/swagger";
import type { preValidationHookHandler } from "fastify";
import type { App } from "./app.ts";
import { problemExamples } from "./problem.ts";
import { nameSchemas } from "./schema.ts";

type Json = Record<string, unknown>;

/** The keyword of these constraints, until the document is made. */
export const DOCUMENTED = "x-documented";

/**
 * Adds constraints to a schema that are documented only, because something else than the validator enforces them: with a code of
 * its own, or together with all other faults.
 */
export function documented<Schema extends object>(constraints: object, schema: Schema): Schema {
  return { ...schema, [DOCUMENTED]: constraints };
}

/** Returns the document with these constraints in their schemas. */
function withDocumented(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withDocumented);
  if (typeof value !== "object" || value === null) return value;
  const { [DOCUMENTED]: constraints, ...rest } = value as Json;
  const entries = Object.entries(rest).map(([key, member]) => [key, withDocumented(member)]);
  return { ...(Object.fromEntries(entries) as Json), ...(constraints as Json | undefined) };
}

/**
 * Cuts each list in a body to one item more than its schema allows. The list is still refused, but the validator does not check
 * thousands of items to report twenty faults, which would cost us far more than the client.
 */
export function cutLongLists(app: App): void {
  app.addHook("onRoute", (route) => {
    const { properties = {} } = (route.schema?.body ?? {}) as Described;
    const lists = Object.entries(properties).filter(([, { maxItems }]) => maxItems !== undefined);
    if (lists.length === 0) return;
    const cut: preValidationHookHandler = ({ body }, _reply, done) => {
      for (const [name, { maxItems = Infinity }] of lists) {
        const list = (body as Body)?.[name];
        if (Array.isArray(list)) list.splice(maxItems + 1);
      }
      done();
    };
    route.preValidation = [cut, route.preValidation ?? []].flat();
  });
}

type Body = Record<string, unknown> | null | undefined;

interface Described {
  properties?: Record<string, { maxItems?: number }>;
}

type SecurityScheme = { description: string } & (
  { type: "http"; scheme: "bearer" } | { type: "apiKey"; in: "cookie"; name: string }
);

/** Who to turn to: a name, and an address if one is known. */
export interface Contact {
  name: string;
  url?: string;
  email?: string;
}

/** The parts of a document besides the operations. */
interface ApiDocument {
  info: { title: string; version: string; summary: string; description: string };
  /** Each operation has one of these tags. */
  tags: readonly { name: string; description: string }[];
  /** The security schemes by name. Every operation requires one of them. */
  security: Record<string, SecurityScheme>;
}

/** The part of a document about deliveries. */
export interface Webhooks {
  webhooks: object;
  schemas: object;
  parameters: object;
  /** The callbacks of operations, by `operationId`. The framework would drop most of their members. */
  callbacks: Record<string, object>;
}

interface Options {
  /** Called at the first request, when our port is known. */
  baseUrl: () => string;
  contact: Contact;
  /** Default: the document says nothing about deliveries. */
  events?: Webhooks;
}

/** Serves the OpenAPI 3.1 document of the routes that `app` registers after this call. It needs no key. */
export function openApiRoute(
  app: App,
  { info, tags, security }: ApiDocument,
  { baseUrl, contact, events }: Options,
): void {
  app.get("/openapi.json", { schema: { hide: true } }, () => app.swagger());

  app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { ...info, contact, license: { name: "MIT", identifier: "MIT" } },
      tags: [...tags],
      components: { securitySchemes: security },
      security: Object.keys(security).map((name) => ({ [name]: [] })),
    },
    convertConstToEnum: false,
    refResolver: { buildLocalReference: ({ $id }) => $id as string },
    transformObject: (document) => ({
      ...complete("openapiObject" in document ? document.openapiObject : {}, events),
      servers: [{ url: baseUrl() }],
    }),
  });
}

type Paths = Record<string, Record<string, { operationId: string }>>;

interface Parts {
  paths?: object;
  components?: { schemas?: object };
}

function complete<Document extends object>(document: Document, events?: Webhooks): Document {
  const { paths = {}, components = {} } = document as Parts;
  const named = nameSchemas(withDocumented(paths) as object, components.schemas ?? {});
  return {
    ...document,
    paths: withCallbacks(named.paths as Paths, events?.callbacks ?? {}),
    components: {
      ...components,
      schemas: { ...named.schemas, ...events?.schemas },
      examples: problemExamples(named.paths),
      ...(events && { parameters: events.parameters }),
    },
    ...(events && { webhooks: events.webhooks }),
  };
}

function withCallbacks(paths: Paths, callbacks: Webhooks["callbacks"]): Paths {
  const complete = (operation: { operationId: string }) => ({
    ...operation,
    ...(operation.operationId in callbacks && { callbacks: callbacks[operation.operationId] }),
  });
  return mapValues(paths, (methods) => mapValues(methods, complete));
}

function mapValues<Value, Result>(
  object: Record<string, Value>,
  change: (value: Value) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}
