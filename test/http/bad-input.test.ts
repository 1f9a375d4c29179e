import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Fault } from "../../src/lib/errors.ts";
import { column } from "../support/columns.ts";
import { createDatabase } from "../support/database.ts";
import { startOperatorApi } from "../support/operator-api.ts";
import { EVENTS, startPartnerApi } from "../support/partner-api.ts";

const db = await createDatabase();

const WEBHOOKS = "/api/v1/partner/webhooks";
const URL_OK = "https://hooks.example.com/";
const MARK = "MARK-OF-THE-CALLER";

interface Refusal {
  code: string;
  errors?: Fault[];
}

const api = startPartnerApi({ after }, db);
const key = await api.aKeyWith("webhooks:manage");

function post(body: string, contentType = "application/json") {
  const headers = { authorization: key.authorization, "content-type": contentType };
  return api.inject({ method: "POST", url: WEBHOOKS, headers, payload: body });
}

test("a body that is not JSON is malformed, and one with another media type is unsupported", async () => {
  const good = JSON.stringify({ url: URL_OK, events: EVENTS });

  const cases: [status: number, contentType: string, body: string][] = [
    [400, "application/json", ""],
    [400, "application/json", "{"],
    [400, "application/json", `${good}x`],
    [400, "application/json", good.slice(0, -1)],
    [400, "application/json", "{'url': 'x'}"],
    [400, "application/json", "undefined"],
    [400, "application/json; charset=utf-8", "nonsense"],
    [415, "text/plain", good],
    [415, "text/json", good],
    [415, "application/x-www-form-urlencoded", "url=https://x.example.com"],
    [415, "multipart/form-data; boundary=x", "--x--"],
    [415, "application/problem+json", good],
    [415, "application/jsonx", good],
    [415, "application", good],
    [415, "", good],
    [201, "application/json; charset=utf-8", good],
    [201, "APPLICATION/JSON", good],
  ];
  for (const [status, contentType, body] of cases) {
    const { statusCode } = await post(body, contentType);
    assert.equal(statusCode, status, `${contentType}: ${body.slice(0, 30)}`);
  }

  const headers = { authorization: key.authorization };
  for (const [coding, status] of [
    ["gzip", 415],
    ["Identity", 201],
  ] as const) {
    const coded = { ...headers, "content-type": "application/json", "content-encoding": coding };
    const sent = { method: "POST", url: WEBHOOKS, headers: coded, payload: good } as const;
    assert.equal((await api.inject(sent)).statusCode, status, coding);
  }
  const nothing = await api.inject({ method: "POST", url: WEBHOOKS, headers });
  assert.equal(nothing.statusCode, 400, "no body and no content type");
});

test("a body of the wrong shape is refused with all its faults, which do not repeat its values", async () => {
  const cases: [body: unknown, pointers: string[]][] = [
    [[], [""]],
    [null, [""]],
    [MARK, [""]],
    [7, [""]],
    [{}, ["/events", "/url"]],
    [{ url: URL_OK }, ["/events"]],
    [{ events: EVENTS }, ["/url"]],
    [{ url: 7, events: 7 }, ["/events", "/url"]],
    [{ url: null, events: null }, ["/events", "/url"]],
    [{ url: [URL_OK], events: EVENTS }, ["/url"]],
    [{ url: { href: MARK }, events: { 0: MARK } }, ["/events", "/url"]],
    [{ url: `${URL_OK}${"x".repeat(2_048)}`, events: EVENTS }, ["/url"]],
    [{ url: URL_OK, events: [] }, ["/events"]],
    [{ url: URL_OK, events: "vc.test.ping" }, ["/events"]],
    [{ url: URL_OK, events: [MARK] }, ["/events/0"]],
    [{ url: URL_OK, events: ["vc.test.ping", MARK] }, ["/events/1"]],
    [{ url: URL_OK, events: ["VC.TEST.PING"] }, ["/events/0"]],
    [{ url: URL_OK, events: [null] }, ["/events/0"]],
    [{ url: URL_OK, events: [["vc.test.ping"]] }, ["/events/0"]],
    [{ url: URL_OK, events: [{ "vc.test.ping": true }, 7] }, ["/events/0", "/events/1"]],
    [{ url: URL_OK, events: ["vc.test.ping", "vc.test.ping"] }, ["/events"]],
    [{ url: URL_OK, events: ["toString"] }, ["/events/0"]],
  ];
  for (const [body, pointers] of cases) {
    const sent = JSON.stringify(body);
    const response = await post(sent);
    assert.equal(response.statusCode, 422, sent);
    const { code, errors = [] } = response.json<Refusal>();
    assert.equal(code, "invalid_request", sent);
    assert.deepEqual(column(errors, "pointer"), pointers, sent);
    assert.ok(!response.body.includes(MARK), sent);
    for (const { pointer, detail } of errors) {
      if (pointer.startsWith("/events")) assert.match(detail, /vc\.test\.ping/);
    }
  }
});

test("a body with thousands of faults gets only the first ones", async () => {
  for (const item of ["1", '""', "{}", "[]", "null"]) {
    const items = Array.from({ length: 12_000 }, () => item);
    const body = `{"url":"${URL_OK}","events":[${items.join(",")}]}`;
    const response = await post(body);
    assert.equal(response.statusCode, 422, item);
    assert.equal(response.json<Refusal>().errors?.length, 20, item);
  }
});

test("a list that is too long is not checked further", async () => {
  const events = [...Array.from({ length: 60 }, () => "vc.test.ping"), 7, "x"];
  const response = await post(JSON.stringify({ events }));
  assert.deepEqual(
    response.json<Refusal>().errors?.map(({ pointer, detail }) => [pointer, detail.split(". ")[0]]),
    [
      ["/events", "must have at most 50 items"],
      ["/events", "must not contain an item twice"],
      ["/url", "is required"],
    ],
  );
});

test("every list in a body has a maximum length, so that no list is checked in full", async (t) => {
  const operators = startOperatorApi(t, api.deps);
  await operators.app.ready();
  const lists = [...(await api.routes()), ...operators.app.routeTable].flatMap(
    ({ schema, url }) => {
      const { properties = {} } = (schema?.body ?? {}) as { properties?: Record<string, List> };
      // A list within a list or an object would not be checked.
      const found = JSON.stringify(properties).match(/"type":"array"/g) ?? [];
      const own = Object.values(properties).filter(({ type }) => type === "array");
      assert.equal(found.length, own.length);
      return own.map((list) => ({ ...list, most: url.endsWith(PUBLISHING) ? 1_000 : 100 }));
    },
  );
  assert.ok(lists.length > 1);
  for (const { maxItems, most } of lists) assert.ok(maxItems !== undefined && maxItems <= most);
});

/** A platform publishes up to 1,000 events in one request. */
const PUBLISHING = "/admin/events";

interface List {
  type?: string;
  maxItems?: number;
}

test("unknown members are ignored, with any name", async () => {
  const unknown = `"__proto__":{"active":false},"constructor":{"prototype":{}},"secret":"${MARK}","id":1`;
  const body = `{"url":"${URL_OK}","events":["vc.test.ping"],${unknown}}`;
  const response = await post(body);
  assert.equal(response.statusCode, 201);
  assert.ok(!response.body.includes(MARK));
});

test("an invalid limit or a cursor of another list is refused", async () => {
  const [one, other] = [await api.aSubscriptionOf(key), await api.aSubscriptionOf(key)];
  await insertFailures(one.id, 3);
  await insertFailures(other.id, 3);
  const failures = (id: string, query: string) =>
    api.inject({
      url: `${WEBHOOKS}/${id}/failures?${query}`,
      headers: { authorization: key.authorization },
    });
  const page = (await failures(one.id, "limit=1")).json<{ next_cursor: string }>();
  const cursor = page.next_cursor;
  const damaged = cursor.replace(/.$/, (last) => (last === "A" ? "E" : "A"));
  const bent = cursor.slice(0, 20) + (cursor[20] === "x" ? "y" : "x") + cursor.slice(21);

  const refused: [query: string, pointers: string[]][] = [
    ["limit=0", ["/limit"]],
    ["limit=-1", ["/limit"]],
    ["limit=201", ["/limit"]],
    ["limit=1.5", ["/limit"]],
    ["limit=1.0", ["/limit"]],
    ["limit=ten", ["/limit"]],
    ["limit=", ["/limit"]],
    ["limit=%201", ["/limit"]],
    ["limit=1e2", ["/limit"]],
    ["limit=0x10", ["/limit"]],
    ["limit=99999999999999999999", ["/limit"]],
    ["limit=1&limit=2", ["/limit"]],
    ["limit[]=1&limit[]=2&limit=NaN", ["/limit"]],
    ["cursor=", ["/cursor"]],
    ["cursor=nonsense", ["/cursor"]],
    [`cursor=${cursor}&cursor=${cursor}`, ["/cursor"]],
    [`cursor=${cursor}=`, ["/cursor"]],
    [`cursor=${damaged}`, ["/cursor"]],
    [`cursor=${bent}`, ["/cursor"]],
    [`cursor=${"x".repeat(4_000)}`, ["/cursor"]],
    ["cursor=%00", ["/cursor"]],
    [`limit=0&cursor=${MARK}`, ["/limit", "/cursor"]],
  ];
  for (const [query, pointers] of refused) {
    const response = await failures(one.id, query);
    assert.equal(response.statusCode, 422, query);
    const { code, errors } = response.json<Refusal>();
    assert.equal(code, "invalid_request", query);
    assert.deepEqual(column(errors, "pointer"), pointers, query);
    assert.ok(!response.body.includes(MARK), query);
  }

  const foreign = await failures(other.id, `cursor=${cursor}`);
  assert.deepEqual(column(foreign.json<Refusal>().errors, "pointer"), ["/cursor"]);

  for (const query of ["", "limit=1", "limit=200", "limit=007", `cursor=${cursor}`, "other=1"]) {
    assert.equal((await failures(one.id, query)).statusCode, 200, query);
  }
});

async function insertFailures(subscriptionId: string, count: number): Promise<void> {
  await db`
    insert into attempts (id, delivery_id, subscription_id, event_id, event_type, attempt, http_status, reason,
                          dead_lettered, duration_ms, attempted_at)
    select gen_random_uuid(), gen_random_uuid(), ${subscriptionId.slice(3)}, gen_random_uuid(), 'vc.test.ping', n, 500,
           'http_500', false, 1, '2026-01-01T00:00:00Z'
      from generate_series(1, ${count}) n`;
}
