import { pino } from "pino";
import { DOCS_BASE_URL } from "../../src/http/docs/site.ts";
import { buildPartnerApp } from "../../src/http/partner-app.ts";
import type { Dependencies } from "../../src/subjects/dependencies.ts";
import { createEventTypes } from "../../src/subjects/event-types/rules.ts";

export interface Schema {
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: string[];
  examples?: unknown[];
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  default?: string | number;
}

export interface Media {
  schema: Schema;
  example?: unknown;
}

export interface Operation {
  operationId: string;
  summary: string;
  description: string;
  parameters?: {
    name: string;
    in: string;
    required: boolean;
    description: string;
    schema: Schema;
  }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { description: string; content?: Record<string, Media> }>;
}

export interface OpenApiDocument {
  info: { description: string };
  paths: Record<string, Record<string, Operation>>;
}

/** The same document with the components in the places that refer to them. */
export async function resolvedDocument(): Promise<OpenApiDocument> {
  const document = await openApiDocument();
  return { ...document, paths: resolve(document.paths) as OpenApiDocument["paths"] };

  function resolve(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== "object" || value === null) return value;
    if ("$ref" in value) return resolve(targetOf(String(value.$ref)));
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, resolve(one)]));
  }

  function targetOf(ref: string): unknown {
    const steps = ref.split("/").slice(1);
    return steps.reduce<object>((at, step) => (at as Record<string, object>)[step] ?? {}, document);
  }
}

/**
 * The document that the partners' listener publishes. It is requested without a database, since
 * this route needs none.
 */
export async function openApiDocument(): Promise<OpenApiDocument> {
  const app = buildPartnerApp({ eventTypes: createEventTypes() } as Dependencies, {
    logger: pino({ level: "silent" }),
    baseUrl: () => DOCS_BASE_URL,
    health: { ready: () => Promise.resolve([]) },
  });
  const response = await app.inject({ url: "/api/v1/partner/openapi.json" });
  await app.close();
  return response.json<OpenApiDocument>();
}
