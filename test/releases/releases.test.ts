import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openApiDocument } from "../../site/generated/openapi-document.ts";
import { findBreakingChanges } from "../../src/event-types/compare.ts";
import type { Definition } from "../../src/event-types/definition.ts";
import { OWN_EVENT_TYPES } from "../../src/subjects/event-types/rules.ts";
import { ROOT } from "../support/root.ts";
import { breakingChanges } from "./breaking-changes.ts";

const FOLDER = join(ROOT, "test/releases");
const newest =
  readdirSync(FOLDER)
    .filter((name) => /^\d+\.\d+\.\d+$/.test(name))
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }))
    .at(-1) ?? assert.fail("there is no release");
const read = (name: string) =>
  JSON.parse(readFileSync(join(FOLDER, newest, name), "utf8")) as object;
const released = read("openapi.json");
const today: object = await openApiDocument();

test(`the partner API breaks no clients of ${newest}`, () => {
  assert.deepEqual(breakingChanges(released, today), []);
});

test(`our event types keep all members of ${newest}`, () => {
  const definitions = Object.entries(OWN_EVENT_TYPES).map(([name, type]) => ({ ...type, name }));
  const before = read("event-types.json") as Definition[];
  assert.deepEqual(findBreakingChanges(before, definitions as unknown as Definition[]), []);
  const [first, ...rest] = structuredClone(before);
  assert.ok(first);
  first.schema["properties"] = {};
  const lost = findBreakingChanges(before, [first, ...rest]);
  assert.match(JSON.stringify(lost), /message/);
});

test("each release has a date in the changelog, and its promises are kept", () => {
  const { releases } = JSON.parse(readFileSync(join(ROOT, "releases.json"), "utf8")) as {
    releases: { version: string; commit: string }[];
  };
  const changelog = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8");
  for (const { version, commit } of releases) {
    assert.match(changelog, new RegExp(`^## \\[${version}\\] - \\d{4}-\\d\\d-\\d\\d$`, "m"));
    assert.ok(existsSync(join(FOLDER, version, "openapi.json")), version);
    assert.match(commit, /^[0-9a-f]{40}$/);
  }
});

/** A change to a copy of the document, and the reported break. */
const WEBHOOKS = "/api/v1/partner/webhooks";
const CHANGES: [what: string, change: (text: string) => string, said: RegExp][] = [
  [
    "a removed operation",
    (text) => text.replace('"/api/v1/partner/me"', '"/me"'),
    /GET .*me is gone/,
  ],
  [
    "another operationId",
    (text) => text.replaceAll("getIdentity", "whoAmI"),
    /another operationId/,
  ],
  [
    "a lost member",
    (text) => text.replaceAll('"rate_limit_per_minute":', '"limit":'),
    /rate_limit_per_minute is gone/,
  ],
  [
    "another type",
    edit("Failure", "http_status", { type: "string" }),
    /http_status: type may be string/,
  ],
  [
    "a status that is new",
    edit("Failure", "status", { type: "string", enum: ["failed", "dead_lettered", "lost"] }),
    /may be lost now/,
  ],
  [
    "a member that may be null",
    edit("Subscription", "url", { type: ["string", "null"] }),
    /url: type may be null/,
  ],
  [
    "a stricter request",
    edit("SubscriptionRequest", "url", { type: "string", maxLength: 100 }),
    /maxLength changes/,
  ],
  [
    "a request with fewer items",
    edit("SubscriptionRequest", "events", { type: "array", maxItems: 1 }),
    /maxItems changes/,
  ],
  [
    "a keyword that had no place before",
    edit("SubscriptionRequest", "url", { type: "string", minLength: 100 }),
    /minLength changes/,
  ],
  ["another default", (text) => text.replace('"default":50', '"default":10'), /default changes/],
  [
    "another schema of a response header",
    (text) => text.replace(/("Retry-After":\{.*?"type":)"\w+"/, '$1"boolean"'),
    /429 Retry-After: type may be boolean/,
  ],
  [
    "a lost header of a delivery",
    (text) => text.replaceAll("X-VC-Signature", "X-Signature"),
    /X-VC-Signature is gone/,
  ],
  [
    "a lost parameter",
    (text) => text.replaceAll('"name":"cursor"', '"name":"after"'),
    /query cursor is gone/,
  ],
  [
    "a lost status",
    (text) => text.replace('"204":', '"200":'),
    new RegExp(`DELETE ${WEBHOOKS}.*204 is gone`),
  ],
];

for (const [what, change, said] of CHANGES) {
  test(`${what} is reported`, () => {
    const changed = JSON.parse(change(JSON.stringify(today))) as object;
    assert.match(breakingChanges(today, changed).join("\n"), said);
  });
}

test("changed descriptions and examples break nothing", () => {
  const reworded = JSON.stringify(today).replaceAll(
    '"description":"',
    '"description":"In other words: ',
  );
  assert.deepEqual(breakingChanges(today, JSON.parse(reworded) as object), []);
});

test("a deprecated member breaks nothing", () => {
  const copy = structuredClone(today) as {
    components: { schemas: Record<string, { properties: Record<string, object> }> };
  };
  Object.assign(copy.components.schemas["Failure"]?.properties["reason"] ?? assert.fail(), {
    deprecated: true,
  });
  assert.deepEqual(breakingChanges(today, copy), []);
});

test("a new operation, an optional parameter and a further member break nothing", () => {
  const copy = structuredClone(today) as {
    paths: Record<string, Record<string, { parameters?: object[] }>>;
    components: { schemas: Record<string, { properties: Record<string, object> }> };
  };
  copy.paths["/new"] = {};
  const me = copy.paths["/api/v1/partner/me"]?.["get"] ?? assert.fail();
  me.parameters = [{ name: "x", in: "query", schema: { type: "string" } }];
  const { Identity, SubscriptionRequest } = copy.components.schemas;
  Object.assign(Identity?.properties ?? {}, { more: { type: "string" } });
  Object.assign(SubscriptionRequest?.properties ?? {}, { more: { type: "string" } });
  assert.deepEqual(breakingChanges(today, copy), []);
});

/** Replaces the schema of a member of a component. */
function edit(component: string, member: string, schema: object) {
  return (text: string): string => {
    const copy = JSON.parse(text) as {
      components: { schemas: Record<string, { properties: Record<string, object> }> };
    };
    const { properties } = copy.components.schemas[component] ?? assert.fail(component);
    properties[member] = schema;
    return JSON.stringify(copy);
  };
}
