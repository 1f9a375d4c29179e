import swagger from "@fastify/swagger";
import type { App } from "./app.ts";

type SecurityScheme = { description: string } & (
  { type: "http"; scheme: "bearer" } | { type: "apiKey"; in: "cookie"; name: string }
);

export interface ApiDocument {
  info: { title: string; version: string; description: string };
  /** The security schemes by name. Every operation requires one of them. */
  security: Record<string, SecurityScheme>;
}

/** Serves the OpenAPI 3.1 document of the routes that `app` registers after this call. It needs no key. */
export function openApiRoute(
  app: App,
  { info, security }: ApiDocument,
  baseUrl: () => string,
  events: { webhooks: object; schemas: object } | null = null,
): void {
  app.get("/openapi.json", { schema: { hide: true } }, () => app.swagger());

  app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info,
      components: { securitySchemes: security },
      security: Object.keys(security).map((name) => ({ [name]: [] })),
    },
    convertConstToEnum: false,
    refResolver: { buildLocalReference: ({ $id }) => $id as string },
    // Called at the first request, when our port is known.
    transformObject: (document) => ({
      ...withEvents("openapiObject" in document ? document.openapiObject : {}, events),
      servers: [{ url: baseUrl() }],
    }),
  });
}

interface Components {
  components?: { schemas?: object };
}

function withEvents<Document extends object>(
  document: Document,
  events: { webhooks: object; schemas: object } | null,
): Document {
  if (events === null) return document;
  const { components } = document as Components;
  const schemas = { ...components?.schemas, ...events.schemas };
  return { ...document, components: { ...components, schemas }, webhooks: events.webhooks };
}
