import { pino } from "pino";
import type { Dependencies } from "../../src/actions/dependencies.ts";
import { createEventTypes } from "../../src/domain/event-types.ts";
import { buildPartnerApp } from "../../src/http/partner/app.ts";
import { DOCS_BASE_URL } from "../../src/http/docs/manifest.ts";

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
