import assert from "node:assert/strict";
import { test } from "node:test";
import { PartnerError } from "../../src/domain/errors.ts";
import { problemHeaders, toProblem } from "../../src/http/problem.ts";
import { createDatabase } from "../support/database.ts";
import { BASE_URL, startPartnerApi } from "../support/partner-api.ts";
import { converse, type RawAnswer, rawRequest } from "../support/raw-http.ts";
import { createJudge } from "./judge.ts";
import { MARK } from "./junk.ts";
import { ROUTE_HEADER } from "./world.ts";

const db = await createDatabase();

const ME = "/api/v1/partner/me";
const WEBHOOKS = "/api/v1/partner/webhooks";

/** What no service may answer to GET /me, and what the judge is to say of it. */
const WRONG: Record<string, [answer: (right: RawAnswer) => RawAnswer, verdict: RegExp]> = {
  "a 500": [() => aProblem("internal"), /our fault/],
  "a 503": [() => aProblem("unavailable"), /our fault/],
  "a success that is not published": [
    (right) => ({ ...right, status: 202 }),
    /202 is not published/,
  ],
  "an error that is not published": [() => aProblem("slug_taken"), /409 is not in the document/],
  "a success from nowhere": [(right) => withHeaders(right, { [ROUTE_HEADER]: "" }), /no route/],
  "a success of a route that publishes no such one": [
    (right) => withHeaders({ ...right, status: 201 }, { [ROUTE_HEADER]: "/healthz" }),
    /\/healthz publishes nothing/,
  ],
  "a member that is not published": [
    (right) => withBody(right, { debug: true }),
    /must NOT have additional properties/,
  ],
  "a member of another type": [
    (right) => withBody(right, { scopes: "identity:read" }),
    /must be array/,
  ],
  "a missing member": [
    (right) => withBody(right, { key_id: undefined }),
    /must have required property 'key_id'/,
  ],
  "a body that is no JSON": [(right) => ({ ...right, body: "<html>" }), /JSON/],
  "a problem without its type": [
    () => withBody(aProblem("unauthenticated"), { type: undefined }),
    /must have required property 'type'/,
  ],
  "a problem with a member of its own": [
    () => withBody(aProblem("unauthenticated"), { stack: "at main.ts" }),
    /must NOT have additional properties/,
  ],
  "a problem that tells of another status": [
    () => withBody(aProblem("unauthenticated"), { status: 404 }),
    /404 !== 401/,
  ],
  "a problem whose code has another status": [
    () => withBody(aProblem("unauthenticated"), { code: "not_found" }),
    /404 !== 401/,
  ],
  "a problem that other operations have": [() => aProblem("secret_mismatch"), /a code of another/],
  "a problem for another request": [
    () => withBody(aProblem("unauthenticated"), { request_id: "other" }),
    /other/,
  ],
  "a problem that is called JSON alone": [
    () => withHeaders(aProblem("unauthenticated"), { "content-type": "application/json" }),
    /problem\+json/,
  ],
  "a problem that may be kept": [
    () => withHeaders(aProblem("unauthenticated"), { "cache-control": "public" }),
    /no-store/,
  ],
  "an error that repeats the request": [
    () => withBody(aProblem("unauthenticated"), { detail: `No such key: ${MARK}` }),
    /the answer repeats the request/,
  ],
  "a page that repeats the request": [
    (right) => ({ ...withHeaders(right, { "content-type": "text/html" }), body: `<p>${MARK}` }),
    /the answer repeats the request/,
  ],
  "a header that repeats the request": [
    (right) => withHeaders(right, { location: `https://${MARK}` }),
    /a header repeats the request/,
  ],
  "a header that the request has smuggled in": [
    (right) => withHeaders(right, { "x-injected": "1" }),
    /'1'/,
  ],
  "an answer without an id": [(right) => withHeaders(right, { "x-request-id": "" }), /64/],
  "an answer whose type may be guessed": [
    (right) => withHeaders(right, { "x-content-type-options": "" }),
    /nosniff/,
  ],
};

test("whoever judges the fuzzed answers lets right ones pass, and names what is wrong with any other", async (t) => {
  const { judge, ask } = await aCourt(t);
  const right = await ask(`GET ${ME}`, ME);
  assert.equal(right.status, 200);
  judge("GET", right);
  for (const code of ["unauthenticated", "rate_limited", "headers_too_large"] as const) {
    judge("GET", aProblem(code));
  }
  judge("HEAD", { ...aProblem("method_not_allowed"), body: "" });
  const gone = withHeaders({ ...right, status: 204 }, { [ROUTE_HEADER]: `${WEBHOOKS}/:id` });
  judge("DELETE", { ...gone, body: "" });
  assert.throws(() => judge("DELETE", gone), /a body where none is published/);

  for (const [what, [answer, verdict]] of Object.entries(WRONG)) {
    assert.throws(() => judge("GET", answer(right)), verdict, what);
  }
});

test("what somebody stored may be shown again as data, and nowhere else", async (t) => {
  const { judge, ask } = await aCourt(t);
  const list = await ask(`GET ${WEBHOOKS}`, WEBHOOKS);
  const [stored] = JSON.parse(list.body) as { url: string }[];
  assert.ok(stored);
  const shown = { ...list, body: JSON.stringify([{ ...stored, url: `https://${MARK}/` }]) };
  judge("GET", shown);
  assert.throws(
    () => judge("GET", withHeaders(shown, { "content-type": "text/html" })),
    /the answer repeats the request/,
  );
});

/** A listener whose answers are judged, one by one. */
async function aCourt(t: Parameters<typeof startPartnerApi>[0]) {
  const api = startPartnerApi(t, db);
  const key = await api.aKeyWith("webhooks:manage");
  await api.aSubscriptionOf(key);
  const base = await api.listen();
  const judge = await createJudge({
    base,
    document: "/api/v1/partner/openapi.json",
    routes: await api.routes(),
  });
  const head = ["Host: localhost", "Connection: close", `Authorization: ${key.authorization}`];
  const ask = async (request: string, route: string) => {
    const [answer] = await converse(base, rawRequest(`${request} HTTP/1.1`, head));
    assert.ok(answer);
    return withHeaders(answer, { [ROUTE_HEADER]: route });
  };
  return { judge, ask };
}

/** What the service would answer, did it come to this error. */
function aProblem(code: PartnerError["code"]): RawAnswer {
  const error = new PartnerError(code, "Something is wrong.");
  const problem = toProblem(error, BASE_URL, "an-id");
  const headers = {
    ...problemHeaders(error),
    "x-request-id": "an-id",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    [ROUTE_HEADER]: ME,
  };
  return { status: problem.status, headers, body: JSON.stringify(problem) };
}

function withHeaders(answer: RawAnswer, headers: RawAnswer["headers"]): RawAnswer {
  return { ...answer, headers: { ...answer.headers, ...headers } };
}

/** An undefined member is one that is left out. */
function withBody(answer: RawAnswer, members: object): RawAnswer {
  return {
    ...answer,
    body: JSON.stringify({ ...(JSON.parse(answer.body) as object), ...members }),
  };
}
