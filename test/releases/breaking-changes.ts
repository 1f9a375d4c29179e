type Json = Record<string, unknown>;

/** The writer of a schema's values. A change that allows one side more may break the other side. */
type Direction = "request" | "response";

/** The changes between two OpenAPI documents that break clients or receivers of the older one. */
export function breakingChanges(older: object, newer: object): string[] {
  const [before, after] = [resolved(older), resolved(newer)];
  return [
    ...operations(before, after, "paths", OURS),
    ...operations(before, after, "webhooks", THEIRS),
    ...gone(before["components"], after["components"], "components", ["securitySchemes"]),
  ];
}

/** The writer of requests: clients in `paths`, and we in `webhooks`. */
const OURS = { request: "request", response: "response" } as const;
const THEIRS = { request: "response", response: "request" } as const;
type Writers = typeof OURS | typeof THEIRS;

function* operations(
  older: Json,
  newer: Json,
  part: "paths" | "webhooks",
  writers: Writers,
): Generator<string> {
  for (const [path, methods] of entries(older[part])) {
    for (const [method, before] of entries(methods)) {
      const where = `${method.toUpperCase()} ${path}`;
      const after = at(newer, part, path, method);
      if (after === undefined) {
        yield `${where} is gone`;
        continue;
      }
      if (before["operationId"] !== after["operationId"]) yield `${where} has another operationId`;
      if (differ(before["security"], after["security"])) yield `${where} has another security`;
      yield* parameters(before, after, where, writers.request);
      yield* contents(
        at(before, "requestBody"),
        at(after, "requestBody"),
        `${where} body`,
        writers.request,
      );
      yield* responses(before, after, where, writers.response);
    }
  }
}

function* parameters(before: Json, after: Json, where: string, by: Direction): Generator<string> {
  const [old, now] = [parametersOf(before), parametersOf(after)];
  for (const [name, parameter] of old) {
    const is = now.get(name);
    if (!is) yield `${where}: the parameter ${name} is gone`;
    else {
      const isRequired = [parameter["required"] === true, is["required"] === true] as const;
      yield* necessity(isRequired, `${where}: the parameter ${name}`, by);
      yield* schemas(parameter["schema"], is["schema"], `${where}: ${name}`, by);
    }
  }
  for (const [name, parameter] of now) {
    if (old.has(name) || by === "response") continue;
    if (parameter["required"] === true) yield `${where}: the new parameter ${name} is required`;
  }
}

/** By place and name. */
function parametersOf(operation: Json): Map<string, Json> {
  const list = (operation["parameters"] ?? []) as Json[];
  return new Map(list.map((one) => [`${String(one["in"])} ${String(one["name"])}`, one] as const));
}

function* responses(before: Json, after: Json, where: string, by: Direction): Generator<string> {
  for (const [status, response] of entries(before["responses"])) {
    const now = at(after, "responses", status);
    if (now === undefined) yield `${where}: the status ${status} is gone`;
    else {
      yield* gone(response, now, `${where} ${status}`, ["headers"]);
      yield* headers(response, now, `${where} ${status}`, by);
      yield* contents(response, now, `${where} ${status}`, by);
    }
  }
}

function* headers(before: Json, after: Json, where: string, by: Direction): Generator<string> {
  for (const [name, header] of entries(before["headers"])) {
    const now = at(after, "headers", name);
    if (now) yield* schemas(header["schema"], now["schema"], `${where} ${name}`, by);
  }
}

function* contents(
  before: Json | undefined,
  after: Json | undefined,
  where: string,
  by: Direction,
): Generator<string> {
  for (const [type, media] of entries(before?.["content"])) {
    const now = at(after ?? {}, "content", type);
    if (now === undefined) yield `${where}: ${type} is gone`;
    else yield* schemas(media["schema"], now["schema"], where, by);
  }
}

function* schemas(
  before: unknown,
  after: unknown,
  where: string,
  by: Direction,
): Generator<string> {
  if (!isObject(before) || !isObject(after)) {
    if (differ(before, after)) yield `${where} has another schema`;
    return;
  }
  yield* members(before, after, where, by);
  yield* values("type", before, after, where, by);
  yield* values("enum", before, after, where, by);
  for (const keyword of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (COMPARED.has(keyword)) continue;
    if (differ(before[keyword], after[keyword])) yield `${where}: ${keyword} changes`;
  }
  if (before["items"] !== undefined)
    yield* schemas(before["items"], after["items"], `${where}[]`, by);
}

/** Keywords that are compared by their parts, and keywords that break nothing. A change of any other breaks one side or the other. */
const COMPARED = new Set(
  ["type", "enum", "items", "properties", "required"].concat(["title", "deprecated"]),
);

function* members(before: Json, after: Json, where: string, by: Direction): Generator<string> {
  const [was, is] = [required(before), required(after)];
  for (const [name, member] of entries(before["properties"])) {
    const now = at(after, "properties", name);
    const place = `${where}.${name}`;
    if (now === undefined) yield `${place} is gone`;
    else {
      yield* necessity([was.has(name), is.has(name)], place, by);
      yield* schemas(member, now, place, by);
    }
  }
  for (const [name] of entries(after["properties"])) {
    const isNew = at(before, "properties", name) === undefined;
    if (isNew && by === "request" && is.has(name)) yield `${where}.${name} is new and required`;
  }
}

function* necessity(
  [was, is]: readonly [boolean, boolean],
  where: string,
  by: Direction,
): Generator<string> {
  if (by === "request" && !was && is) yield `${where} is required now`;
  if (by === "response" && was && !is) yield `${where} may be absent now`;
}

/** Clients must not be refused values that were accepted, and must not get values that they do not expect. */
function* values(
  keyword: "type" | "enum",
  before: Json,
  after: Json,
  where: string,
  by: Direction,
): Generator<string> {
  const [old, now] = [before, after].map((one) => [one[keyword] ?? []].flat()) as [
    unknown[],
    unknown[],
  ];
  const [more, fewer] = by === "request" ? [old, now] : [now, old];
  const lost = more.filter((value) => !fewer.includes(value));
  const word = by === "request" ? "refuses" : "may be";
  for (const value of lost) yield `${where}: ${keyword} ${word} ${String(value)} now`;
}

function* gone(before: unknown, after: unknown, where: string, parts: string[]): Generator<string> {
  for (const part of parts) {
    for (const [name] of entries(at(before, part))) {
      if (at(after, part, name) === undefined) yield `${where}: ${part} ${name} is gone`;
    }
  }
}

/** The document with all references resolved, and without descriptions and examples. */
function resolved(document: object): Json {
  return resolve(document) as Json;

  function resolve(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(resolve);
    if (!isObject(value)) return value;
    const { $ref } = value;
    if (typeof $ref === "string") return resolve(at(document, ...$ref.split("/").slice(1)));
    const said = Object.entries(value).filter(([key, one]) => !isWording(key, one));
    return Object.fromEntries(said.map(([key, one]) => [key, resolve(one)]));
  }
}

/** A member of a schema may also have such a name. Then it is an object. */
function isWording(key: string, value: unknown): boolean {
  return /^(description|summary|examples?)$/.test(key) && !isObject(value);
}

function at(value: unknown, ...path: string[]): Json | undefined {
  const found = path.reduce<unknown>(
    (parent, name) => (isObject(parent) && Object.hasOwn(parent, name) ? parent[name] : undefined),
    value,
  );
  return isObject(found) ? found : undefined;
}

function entries(value: unknown): [string, Json][] {
  return isObject(value) ? (Object.entries(value) as [string, Json][]) : [];
}

function required(schema: Json): Set<unknown> {
  return new Set(Array.isArray(schema["required"]) ? (schema["required"] as unknown[]) : []);
}

function differ(before: unknown, after: unknown): boolean {
  return JSON.stringify(before) !== JSON.stringify(after);
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
