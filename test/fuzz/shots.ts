import fc from "fast-check";
import type { RouteOptions } from "fastify";
import { bodyOf } from "./bodies.ts";
import { often, schemasOf } from "./fitting.ts";
import { junkBody, MARK } from "./junk.ts";
import { pathOf, queryOf } from "./targets.ts";

/** A request template. `«name»` stands for the listener's value of that name. */
export interface Shot {
  method: string;
  target: string;
  headers: [name: string, value: string][];
  body: string | null;
  isChunked: boolean;
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY"];

/** Mostly a valid request for the route, then changed in some place. */
export function shotAt(route: RouteOptions): fc.Arbitrary<Shot> {
  const own = String(route.method);
  const { body, querystring } = schemasOf(route);
  return fc.record({
    method: often(12, fc.constant(own), fc.constantFrom(...METHODS)),
    target: fc
      .tuple(pathOf(route.url), queryOf(querystring))
      .map(([path, query]) => path + (query === "" ? "" : `?${query}`)),
    headers: headersOf(body !== undefined).map((headers) =>
      route.url === "/" ? [...headers, ["Accept", "text/html"]] : headers,
    ),
    body: body ? often(2, bodyOf(body), junkBody) : often(6, fc.constant(null), junkBody),
    isChunked: often(4, fc.constant(false), fc.constant(true)),
  });
}

function headersOf(takesBody: boolean): fc.Arbitrary<Shot["headers"]> {
  const authorization = often(
    12,
    fc.constant("«authorization»"),
    fc.constantFrom("", "Bearer", `Bearer ${MARK}`, `Basic ${MARK}`, `«authorization»${MARK}`),
  );
  const type = often(
    10,
    fc.constant("application/json"),
    fc.constantFrom("", MARK, "text/plain", `application/json; ${MARK}`, "application/json,"),
  );
  return fc
    .tuple(authorization, type, fc.array(fc.constantFrom(...ODD), { maxLength: 2 }))
    .map(([given, media, odd]) => [
      ["Authorization", given],
      ...(takesBody ? [["Content-Type", media] as [string, string]] : []),
      ...odd,
    ]);
}

const ODD: [string, string][] = [
  ["X-Request-Id", MARK],
  ["X-Request-Id", `${MARK}\tand more`],
  ["Idempotency-Key", "k"],
  ["Idempotency-Key", MARK],
  ["Idempotency-Key", `${MARK} and more`],
  ["Idempotency-Key", ""],
  ["Idempotency-Key", `${MARK}${"k".repeat(255)}`],
  ["X-HTTP-Method-Override", "DELETE"],
  ["X-Forwarded-For", MARK],
  ["X-Forwarded-Host", `${MARK}.example.com`],
  ["Forwarded", `host=${MARK}`],
  ["X-Original-URL", "/api/v1/admin/keys"],
  ["Origin", `https://${MARK}.example.com`],
  ["Cookie", `token=${MARK}`],
  ["Accept", MARK],
  ["Accept", `text/html, ${MARK}`],
  ["Accept-Version", "9.x"],
  ["Accept-Encoding", "gzip"],
  ["Content-Encoding", "gzip"],
  ["Range", "bytes=0-0"],
  ["If-None-Match", "*"],
  ["Expect", "100-continue"],
  ["Expect", MARK],
  ["Upgrade", "h2c"],
  ["Referer", `https://${MARK}.example.com`],
  ["User-Agent", "x".repeat(8_000)],
];
