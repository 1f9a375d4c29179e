import assert from "node:assert/strict";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

interface Media {
  schema: object;
  example?: unknown;
  examples?: Record<string, { $ref: string }>;
}

interface Operation {
  operationId: string;
  summary?: string;
  description?: string;
  security?: unknown;
  parameters?: { name: string; in: string; required: boolean; schema: object }[];
  requestBody?: { required: boolean; content: Record<string, Media> };
  responses: Record<string, { description: string; content?: Record<string, Media> }>;
}

/** An OpenAPI document of ours. */
export interface ApiDocument {
  openapi: string;
  info: { version: string };
  servers: { url: string }[];
  security: object[];
  components: {
    schemas: Record<string, object>;
    securitySchemes: Record<string, object>;
    examples: Record<string, { value: { code: string } }>;
    parameters: Record<string, { name: string }>;
  };
  webhooks: Record<string, Record<string, { parameters: { $ref: string }[] }>>;
  paths: Record<string, Record<string, Operation>>;
}

export const operationsOf = ({ paths }: ApiDocument) =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([key, operation]) => {
      const method = key.toUpperCase() as "GET" | "POST" | "PATCH" | "DELETE";
      return { name: `${method} ${path}`, method, path, ...operation };
    }),
  );

export function validator({ components }: ApiDocument) {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addVocabulary(["example", "components"]);
  const compile = (schema: object) => ajv.compile({ components, ...schema });
  return {
    compile,
    check: (schema: object, value: unknown, where: string) => {
      const isValid = compile(schema);
      assert.ok(isValid(value), `${where}: ${JSON.stringify(isValid.errors)}`);
    },
  };
}

/** The same schemas without additional members. */
export function closed<Schemas extends object>(schemas: Schemas): Schemas {
  const text = JSON.stringify(schemas);
  return JSON.parse(
    text.replaceAll('"type":"object"', '"type":"object","additionalProperties":false'),
  ) as Schemas;
}
