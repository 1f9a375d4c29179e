import assert from "node:assert/strict";
import { test } from "node:test";
import { problemHeaders, toProblem } from "../../src/http/problem.ts";
import { PartnerError } from "../../src/lib/errors.ts";
import { createDatabase } from "../support/database.ts";
import { BASE_URL, startPartnerApi } from "../support/partner-api.ts";
import { converse, type RawAnswer, rawRequest } from "../support/raw-http.ts";
import { createJudge } from "./judge.ts";
import { MARK } from "./junk.ts";
import { ROUTE_HEADER } from "./world.ts";

const db = await createDatabase();

const ME = "/api/v1/partner/me";
const WEBHOOKS = "/api/v1/partner/webhooks";

/** Wrong responses to GET /me, with the judge's complaints. */
const WRONG: Record<string, [answer: (right: RawAnswer) => RawAnswer, verdict: RegExp]> = {
  "a 500": [() => aProblem("internal"), /a server error/],
  "a 503": [() => aProblem("unavailable"), /a server error/],
  "a success that is not documented": [
    (right) => ({ ...right, status: 202 }),
    /202 is not documented/,
  ],
  "an error that is not documented": [() => aProblem("slug_taken"), /409 is not in the document/],
  "a success without a route": [(right) => withHeaders(right, { [ROUTE_HEADER]: "" }), /no route/],
  "a success that another route documents": [
    (right) => withHeaders({ ...right, status: 201 }, { [ROUTE_HEADER]: "/healthz" }),
    /\/healthz documents nothing/,
  ],
  "a member that is not documented": [
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
  "a body that is not JSON": [(right) => ({ ...right, body: "<html>" }), /JSON/],
  "a problem without its type": [
    () => withBody(aProblem("unauthenticated"), { type: undefined }),
    /must have required property 'type'/,
  ],
  "a problem with an extra member": [
    () => withBody(aProblem("unauthenticated"), { stack: "at main.ts" }),
    /must NOT have additional properties/,
  ],
  "a problem with another status in the body": [
    () => withBody(aProblem("unauthenticated"), { status: 404 }),
    /404 !== 401/,
  ],
  "a problem whose code has another status": [
    () => withBody(aProblem("unauthenticated"), { code: "not_found" }),
    /404 !== 401/,
  ],
  "a problem of other operations": [() => aProblem("secret_mismatch"), /a code of another/],
  "a problem for another request": [
    () => withBody(aProblem("unauthenticated"), { request_id: "other" }),
    /other/,
  ],
  "a problem with the media type application/json": [
    () => withHeaders(aProblem("unauthenticated"), { "content-type": "application/json" }),
    /problem\+json/,
  ],
  "a problem that may be cached": [
    () => withHeaders(aProblem("unauthenticated"), { "cache-control": "public" }),
    /no-store/,
  ],
  "an error that repeats the request": [
    () => withBody(aProblem("unauthenticated"), { detail: `No such key: ${MARK}` }),
    /the response repeats the request/,
  ],
  "a page that repeats the request": [
    (right) => ({ ...withHeaders(right, { "content-type": "text/html" }), body: `<p>${MARK}` }),
    /the response repeats the request/,
  ],
  "a header that repeats the request": [
    (right) => withHeaders(right, { location: `https://${MARK}` }),
    /a header repeats the request/,
  ],
  "a header injected by the request": [(right) => withHeaders(right, { "x-injected": "1" }), /'1'/],
  "a response without an id": [(right) => withHeaders(right, { "x-request-id": "" }), /64/],
  "a response without nosniff": [
    (right) => withHeaders(right, { "x-content-type-options": "" }),
    /nosniff/,
  ],
};

test("the judge accepts correct responses and explains the faults of others", async (t) => {
  const { judge, ask } = await aJudgedListener(t);
  const right = await ask(`GET ${ME}`, ME);
  assert.equal(right.status, 200);
  judge("GET", right);
  for (const code of ["unauthenticated", "rate_limited", "headers_too_large"] as const) {
    judge("GET", aProblem(code));
  }
  judge("HEAD", { ...aProblem("method_not_allowed"), body: "" });
  const gone = withHeaders({ ...right, status: 204 }, { [ROUTE_HEADER]: `${WEBHOOKS}/:id` });
  judge("DELETE", { ...gone, body: "" });
  assert.throws(() => judge("DELETE", gone), /a body where none is documented/);

  for (const [what, [answer, verdict]] of Object.entries(WRONG)) {
    assert.throws(() => judge("GET", answer(right)), verdict, what);
  }
});

test("a response may repeat stored text only as data", async (t) => {
  const { judge, ask } = await aJudgedListener(t);
  const list = await ask(`GET ${WEBHOOKS}`, WEBHOOKS);
  const [stored] = JSON.parse(list.body) as { url: string }[];
  assert.ok(stored);
  const shown = { ...list, body: JSON.stringify([{ ...stored, url: `https://${MARK}/` }]) };
  judge("GET", shown);
  assert.throws(
    () => judge("GET", withHeaders(shown, { "content-type": "text/html" })),
    /the response repeats the request/,
  );
});

/** A listener whose responses are judged one by one. */
async function aJudgedListener(t: Parameters<typeof startPartnerApi>[0]) {
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

/** The service's response to this error. */
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

/** Omits members that are undefined. */
function withBody(answer: RawAnswer, members: object): RawAnswer {
  return {
    ...answer,
    body: JSON.stringify({ ...(JSON.parse(answer.body) as object), ...members }),
  };
}
