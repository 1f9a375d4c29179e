import type { EventType, EventTypes } from "../../domain/event-types.ts";
import { exampleBody } from "../../domain/example-event.ts";

type Schema = Record<string, unknown>;

/** The part of the OpenAPI document about deliveries, if the platform has types of its own. */
export interface Webhooks {
  webhooks: Record<string, object>;
  /** The schema of each type's `data`, by the type's name. */
  schemas: Record<string, object>;
}

export function webhooksOf(types: EventTypes): Webhooks | null {
  if (types.names.length === 1) return null;
  const all = [...types];
  return {
    webhooks: Object.fromEntries(all.map((type) => [type.name, { post: operation(type) }])),
    schemas: Object.fromEntries(all.map((type) => [type.name, asComponent(type, all)])),
  };
}

function operation({ name, summary, description, example }: EventType): object {
  return {
    summary,
    ...(description === undefined ? {} : { description }),
    security: [],
    parameters: [
      header("X-VC-Signature", "`sha256=` and the hex HMAC-SHA256 of timestamp, dot and body."),
      header("X-VC-Timestamp", "Milliseconds since the Unix epoch."),
    ],
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: envelope(name),
          example: JSON.parse(exampleBody(name, example).toString("utf8")) as unknown,
        },
      },
    },
    responses: {
      "2XX": { description: "The delivery is acknowledged. Any other response is retried." },
    },
  };
}

function header(name: string, description: string): object {
  return { name, in: "header", required: true, description, schema: { type: "string" } };
}

function envelope(name: string): object {
  return {
    type: "object",
    properties: {
      event: { const: name },
      id: { type: "string", description: "`evt_<uuid>`, the same for every attempt." },
      subscription_id: { type: "string", description: "`wh_<uuid>`" },
      occurred_at: { type: "string", format: "date-time" },
      data: { $ref: `#/components/schemas/${name}` },
    },
    required: ["event", "id", "subscription_id", "occurred_at", "data"],
  };
}

/** Returns the schema with references to the components of the document. */
function asComponent({ name, schema }: EventType, types: readonly EventType[]): object {
  const own = Object.entries(schema).filter(([key]) => key !== "$id" && key !== "$schema");
  return rewrite(Object.fromEntries(own)) as object;

  function rewrite(value: unknown, key = ""): unknown {
    if (LITERAL.has(key)) return value;
    if (Array.isArray(value)) return value.map((item) => rewrite(item));
    if (typeof value !== "object" || value === null) {
      return key === "$ref" && typeof value === "string" ? componentOf(value) : value;
    }
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, rewrite(v, k)]));
  }

  function componentOf(ref: string): string {
    const [base = "", fragment = ""] = ref.split("#");
    const target = types.find((type) =>
      [type.name, `${type.name}.json`, (type.schema as Schema)["$id"]].includes(base),
    );
    const known = base === "" ? name : target?.name;
    return known === undefined ? ref : `#/components/schemas/${known}${fragment}`;
  }
}

const LITERAL = new Set(["enum", "const", "examples", "default"]);
