import swagger from "@fastify/swagger";
import type { App } from "./app.ts";
import { withDocumented } from "./documented.ts";
import { nameSchemas } from "./named-schemas.ts";
import { problemExamples } from "./problem-examples.ts";

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
export interface ApiDocument {
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
