import type { RouteOptions } from "fastify";
import { knownId, schemasOf } from "./fitting.ts";
import { MARK, NASTY } from "./junk.ts";
import { NESTED_DATA, pathsIn, replacedAt } from "../support/nested-type.ts";
import type { Shot } from "./shots.ts";
import { escape, isOpen } from "./targets.ts";

/** Puts each hostile text into each input of a route, one at a time. */
export function shotsAtEveryPlace(route: RouteOptions): Shot[] {
  const { body, querystring } = schemasOf(route);
  const [first = {}] = body?.examples ?? [];
  const example = { ...first, ...("organization" in first ? { organization: "«slug»" } : {}) };
  const right: Shot = {
    method: String(route.method),
    target: route.url,
    headers: [
      ["Authorization", "«authorization»"],
      ["Content-Type", "application/json"],
    ],
    body: body ? JSON.stringify(example) : null,
    isChunked: false,
  };
  const parts = route.url.split("/").filter(isOpen);
  return NASTY.map((nasty) => nasty + MARK).flatMap((text) => [
    ...parts.map((part) => ({ ...right, target: route.url.replace(part, escape(text)) })),
    ...Object.keys(querystring?.properties ?? {}).map((name) => ({
      ...right,
      target: `${route.url}?${name}=${escape(text)}`,
    })),
    ...Object.keys(body?.properties ?? {}).map((name) => ({
      ...right,
      target: route.url.replace(":id", knownId(route.url)),
      body: JSON.stringify({ ...example, [name]: text }),
    })),
    ...("data" in first ? pathsIn(NESTED_DATA) : []).map((path) => ({
      ...right,
      body: JSON.stringify({ ...example, data: replacedAt(NESTED_DATA, path, text) }),
    })),
  ]);
}
