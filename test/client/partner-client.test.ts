// Runs alone: it measures the memory of its process.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { type TestContext, test } from "node:test";
import { openApiDocument } from "../../site/generated/openapi-document.ts";
import {
  createPartnerClient,
  orThrow,
  PartnerApiError,
  type PartnerClientOptions,
  type Problem,
} from "../../src/client/partner-client.ts";
import { PROBLEMS } from "../../src/http/problem.ts";
import { column } from "../support/columns.ts";
import { createDatabase } from "../support/database.ts";
import { startPartnerApi } from "../support/partner-api.ts";
import { openPort } from "../support/free-port.ts";
import { collectGarbage } from "../support/garbage.ts";

const db = await createDatabase();
const URL_OF_OURS = "https://hooks.example.com/";

/** A client of a running service, and access to the service's internals. */
async function aClient(
  t: TestContext,
  scopes = ["webhooks:manage"],
  options: Partial<PartnerClientOptions> = {},
) {
  const api = startPartnerApi(t, db);
  const baseUrl = await api.listen();
  const organization = await api.anOrganization({ rateLimitPerMinute: 20 });
  const { token } = await api.aKeyOf(organization, ...scopes);
  return { baseUrl, token, client: createPartnerClient({ baseUrl, token, ...options }) };
}

/** A client whose requests all get this response. */
function aClientOf(answer: () => Response) {
  return createPartnerClient({
    baseUrl: "https://partners.example.com",
    token: "vck_x.y",
    fetch: () => Promise.resolve(answer()),
  });
}

async function addFailures(subscriptionId: string, count: number): Promise<void> {
  for (let attempt = 1; attempt <= count; attempt++) {
    await db`
      insert into attempts (id, delivery_id, subscription_id, event_id, event_type, attempt, http_status, reason,
                            dead_lettered, duration_ms, attempted_at)
      select ${`00000000-0000-7000-8000-00000000000${attempt}`}, gen_random_uuid(), ${subscriptionId.slice(3)}, gen_random_uuid(), 'vc.test.ping',
             ${attempt}, 503, 'http_503', false, 1, ${new Date(Date.UTC(2026, 0, 1, 0, attempt))}`;
  }
}

test("the six calls return their data", async (t) => {
  const { client } = await aClient(t);
  assert.equal(orThrow(await client.getIdentity()).rate_limit_per_minute, 20);

  const request = { url: URL_OF_OURS, events: ["vc.test.ping" as const] };
  const { id, secret } = orThrow(await client.createSubscription(request));
  const [listed] = orThrow(await client.listSubscriptions());
  assert.equal(listed?.id, id);
  const again = orThrow(await client.createSubscription({ ...request, events: listed.events }));
  orThrow(await client.deleteSubscription(again.id));
  assert.match(orThrow(await client.sendTestEvent(id, secret)).event_id, /^evt_/);
  assert.deepEqual(orThrow(await client.listFailures(id, { limit: undefined })), {
    items: [],
    next_cursor: null,
  });

  assert.deepEqual(await client.deleteSubscription(id), { data: undefined, error: null });
  assert.deepEqual(orThrow(await client.listSubscriptions()), []);
});

test("the failures audit is fetched page by page, only as far as it is read", async (t) => {
  let requests = 0;
  const { client } = await aClient(t, ["webhooks:manage"], {
    fetch: (request) => {
      requests++;
      return fetch(request);
    },
  });
  const { id } = orThrow(
    await client.createSubscription({ url: URL_OF_OURS, events: ["vc.test.ping"] }),
  );
  await addFailures(id, 5);

  requests = 0;
  const attempts: number[] = [];
  for await (const { attempt } of client.failures(id, { limit: 2 })) attempts.push(attempt);
  assert.deepEqual(attempts, [5, 4, 3, 2, 1]);
  assert.equal(requests, 3);

  requests = 0;
  for await (const { attempt } of client.failures(id, { limit: 2 })) if (attempt === 4) break;
  assert.equal(requests, 1);
});

test("a refusal has the code and the explanation of the service", async (t) => {
  const { baseUrl, client } = await aClient(t);
  const nobody = createPartnerClient({ baseUrl, token: "vck_nobody.nothing" });
  assert.equal((await nobody.getIdentity()).error?.code, "unauthenticated");
  const weak = (await aClient(t, [])).client;
  assert.equal((await weak.listSubscriptions()).error?.code, "insufficient_scope");

  const { id } = orThrow(
    await client.createSubscription({ url: URL_OF_OURS, events: ["vc.test.ping"] }),
  );
  assert.equal((await client.sendTestEvent(id, "whsec_other")).error?.code, "secret_mismatch");
  assert.equal((await client.deleteSubscription(`wh_${randomUUID()}`)).error?.code, "not_found");

  const { error } = await client.createSubscription({
    url: "http://localhost/",
    events: ["vc.test.ping"],
  });
  assert.equal(error?.code, "url_rejected");
  const wrong = (await client.listFailures(id, { limit: 1000 })).error;
  assert.equal(wrong?.code, "invalid_request");
  assert.deepEqual(column(wrong.errors, "pointer"), ["/limit"]);
  assert.match(wrong.request_id, /./);
});

test("an exceeded rate limit shows when to repeat the call", async (t) => {
  const { client } = await aClient(t);
  let problem: Problem<"getIdentity"> | null = null;
  for (let i = 0; i <= 20; i++) problem = (await client.getIdentity()).error;
  assert.equal(problem?.code, "rate_limited");
  assert.ok(Number(problem.retryAfter) > 0);
});

test("iterating the failures throws a refusal", async (t) => {
  const { client } = await aClient(t);
  await assert.rejects(
    async () => {
      for await (const failure of client.failures(`wh_${randomUUID()}`)) {
        assert.fail(failure.id);
      }
    },
    (error) => error instanceof PartnerApiError && error.problem.code === "not_found",
  );
});

test("a newer code and a proxy's response are reported as unrecognized", async () => {
  const newer = { code: "on_holiday", title: "On holiday", detail: "Back on Monday.", status: 503 };
  const { error } = await aClientOf(() =>
    Response.json(newer, { status: 503, headers: { "retry-after": "60" } }),
  ).getIdentity();
  assert.deepEqual(
    [error?.code, error?.detail, error?.retryAfter],
    ["unrecognized", "Back on Monday.", 60],
  );

  for (const body of ["<h1>Bad gateway</h1>", "", "null", '"text"']) {
    const answer = () => new Response(body, { status: 502, headers: { "x-request-id": "r1" } });
    const { error } = await aClientOf(answer).listSubscriptions();
    assert.deepEqual([error?.code, error?.status, error?.request_id], ["unrecognized", 502, "r1"]);
  }
});

test("a code that only another call can return is reported as unrecognized", async () => {
  const answer = () => Response.json({ code: "secret_mismatch" }, { status: 403 });
  assert.equal((await aClientOf(answer).getIdentity()).error?.code, "unrecognized");
  assert.equal((await aClientOf(answer).sendTestEvent("wh_1", "x")).error?.code, "secret_mismatch");
});

test("every call recognizes the codes of any request", async (t) => {
  const { baseUrl, token } = await aClient(t);
  const misled = createPartnerClient({ baseUrl: `${baseUrl}/api`, token });
  assert.equal((await misled.getIdentity()).error?.code, "not_found");

  const { info } = await openApiDocument();
  const [sentence = ""] =
    /any request may be answered with [^.]*?, in/.exec(info.description) ?? [];
  const statuses = (sentence.match(/\d+/g) ?? []).map(Number);
  assert.ok(statuses.includes(405) && statuses.includes(431), info.description);
  for (const [code, { status }] of Object.entries(PROBLEMS)) {
    if (!statuses.includes(status)) continue;
    const { error } = await aClientOf(() => Response.json({ code }, { status })).getIdentity();
    assert.equal(error?.code, code);
  }
});

test("a 2xx response without the data of the call is an unrecognized refusal", async () => {
  const headers = { "x-request-id": "r1" };
  const page = () =>
    new Response("<h1>Sign in</h1>", { headers: { ...headers, "content-type": "text/html" } });
  const answers = [
    page,
    () => new Response("", { headers }),
    () => new Response(null, { status: 204, headers }),
    () => Response.json(null, { headers }),
    () => Response.json("text", { headers }),
    () => Response.json({ status: "ok" }, { headers }),
    () => Response.json([], { headers }),
    () => new Response('{"partner_org":', { headers: { ...headers, "content-length": "15" } }),
  ];
  for (const answer of answers) {
    const { data, error } = await aClientOf(answer).getIdentity();
    assert.equal(data, null);
    assert.deepEqual(
      [error.code, error.status, error.request_id],
      ["unrecognized", answer().status, "r1"],
    );
    assert.match(error.detail, /without its data/);
  }
  const { error } = await aClientOf(page).deleteSubscription("wh_1");
  assert.deepEqual([error?.code, error?.status], ["unrecognized", 200]);
  for (const call of ["listSubscriptions", "listFailures"] as const) {
    const { error } = await aClientOf(() => Response.json({ status: "ok" }))[call]("wh_1");
    assert.deepEqual([error?.code, error?.status], ["unrecognized", 200]);
  }
});

test("a truncated response rejects", async () => {
  const body = () =>
    new ReadableStream({
      pull: () => Promise.reject(new TypeError("terminated")),
    });
  await assert.rejects(aClientOf(() => new Response(body())).getIdentity(), /terminated/);
});

test("a missing or incomplete response is a timeout, even after garbage collection", async (t) => {
  collectGarbage(t);
  const stalling = createServer((request, response) => {
    if (request.url?.endsWith("/me")) response.writeHead(200).write("{");
  });
  const port = await openPort(t, stalling);
  const where = { baseUrl: `http://127.0.0.1:${port}`, token: "vck_x.y", timeoutMs: 100 };
  const deaf = { ...where, fetch: () => new Promise<Response>(() => undefined) };
  const client = createPartnerClient(where);
  const calls = [client.getIdentity(), client.listSubscriptions()];
  for (const call of [...calls, createPartnerClient(deaf).getIdentity()]) {
    await assert.rejects(call, { name: "TimeoutError" });
  }
});

test("an invalid token or time limit is refused at once, and no error contains a token", () => {
  const where = { baseUrl: "https://partners.example.com" };
  for (const token of ["vck_a.b\nc", "Bearer vck_a.b", "", undefined as unknown as string]) {
    assert.throws(
      () => createPartnerClient({ ...where, token }),
      (error) => error instanceof TypeError && !error.message.includes("a.b"),
    );
  }
  createPartnerClient({ ...where, token: "vck_a.b\n", timeoutMs: undefined });
  for (const timeoutMs of [0, -1, NaN, Infinity, 2 ** 31]) {
    assert.throws(() => createPartnerClient({ ...where, token: "vck_a.b", timeoutMs }), RangeError);
  }
});

test("a thrown refusal lists the faults of the request", async (t) => {
  const { client } = await aClient(t);
  const request = { url: URL_OF_OURS, events: [] };
  const { error } = await client.createSubscription(request);
  assert.equal(error?.code, "invalid_request");
  assert.throws(() => orThrow({ data: null, error }), { message: /shape\. \/events .+\(request / });
});

test("the compiler checks the codes of each call", () => {
  function advice({ code }: Problem<"listSubscriptions">): string {
    switch (code) {
      case "unauthenticated":
      case "insufficient_scope":
        return "ask for a key";
      case "rate_limited":
      case "internal":
      case "unavailable":
      case "unrecognized":
        return "try again";
      case "malformed_request":
      case "not_found":
      case "method_not_allowed":
      case "request_timeout":
      case "headers_too_large":
        return "ask for help";
    }
  }
  assert.equal(advice({ code: "internal" } as Problem<"listSubscriptions">), "try again");
});
