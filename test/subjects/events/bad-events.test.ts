import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import type { Fault } from "../../../src/lib/errors.ts";
import { publicId } from "../../../src/lib/ids.ts";
import type { PublishedView } from "../../../src/subjects/events/publish.ts";
import type { EventView } from "../../../src/subjects/events/work.ts";
import { column } from "../../support/columns.ts";
import { createDatabase } from "../../support/database.ts";
import { aPublisherApi } from "../../support/publisher-api.ts";

const db = await createDatabase();
const HOUR_MS = 3_600_000;

test("one fault refuses the whole request, and every fault is named by its pointer", async (t) => {
  const { faultsOf, order } = await aPublisherApi(t, db);
  const events = [
    order,
    { ...order, data: { amount: "1" }, organization: "nobody" },
    null,
    { ...order, type: "order.lost", dedupe_key: "with space", occurred_at: "today" },
    {},
  ];
  const faults = await faultsOf({ events });
  assert.deepEqual(column(faults, "pointer"), [
    "/events/1/data/amount",
    "/events/1/organization",
    "/events/2",
    "/events/3/dedupe_key",
    "/events/3/occurred_at",
    "/events/3/type",
    "/events/4/data",
    "/events/4/organization",
    "/events/4/type",
  ]);
  const type = faults.find((fault) => fault.pointer === "/events/3/type");
  assert.equal(type?.detail, "must be one of note.added, order.created");
});

test("the service's own types cannot be published", async (t) => {
  const { pointersOf, order } = await aPublisherApi(t, db);
  for (const type of ["vc.test.ping", "vc.mine", "constructor", ""]) {
    assert.deepEqual(await pointersOf({ ...order, type }), ["/type"], type);
  }
});

test("a batch holds 1 to 1,000 events", async (t) => {
  const { post, pointersOf, order } = await aPublisherApi(t, db);
  const many = (count: number) => Array.from({ length: count }, () => order);
  for (const events of [[], many(1001), {}, null, "all"]) {
    assert.deepEqual(await pointersOf({ events }), ["/events"]);
  }
  const { status, body } = await post({ events: many(1000) });
  assert.equal(status, 202);
  assert.equal((body as { items: unknown[] }).items.length, 1000);
});

const WRONG: [what: string, change: object, pointer: string][] = [
  ["no organization", { organization: undefined }, "/organization"],
  ["an organization that is a number", { organization: 1 }, "/organization"],
  ["an unknown organization", { organization: publicId("org", randomUUID()) }, "/organization"],
  ["a type that is a list", { type: ["order.created"] }, "/type"],
  ["no data", { data: undefined }, "/data"],
  ["data that is a list", { data: [] }, "/data"],
  ["data that is text", { data: "{}" }, "/data"],
  ["data that is null", { data: null }, "/data"],
  ["an empty key", { dedupe_key: "" }, "/dedupe_key"],
  ["a key of 256 characters", { dedupe_key: "k".repeat(256) }, "/dedupe_key"],
  ["a key beyond ASCII", { dedupe_key: "schlüssel" }, "/dedupe_key"],
  ["a key that is a number", { dedupe_key: 7 }, "/dedupe_key"],
  ["a time without an offset", { occurred_at: "2026-01-01T00:00:00" }, "/occurred_at"],
  ["a time that is a number", { occurred_at: 0 }, "/occurred_at"],
  ["the 30th of February", { occurred_at: "2026-02-30T00:00:00Z" }, "/occurred_at"],
];

for (const [what, change, pointer] of WRONG) {
  test(`an event with ${what} is refused`, async (t) => {
    const { pointersOf, order } = await aPublisherApi(t, db);
    assert.deepEqual(await pointersOf({ ...order, ...change }), [pointer]);
  });
}

test("occurred_at is at most 5 minutes ahead and not older than the retention period", async (t) => {
  const { post, pointersOf, order, clock } = await aPublisherApi(t, db);
  const at = (ms: number) => ({
    ...order,
    occurred_at: new Date(clock().getTime() + ms).toISOString(),
  });
  for (const ms of [5 * 60_000 + 1, -30 * 24 * HOUR_MS - 1]) {
    assert.deepEqual(await pointersOf(at(ms)), ["/occurred_at"]);
  }
  for (const ms of [5 * 60_000, -30 * 24 * HOUR_MS]) {
    assert.equal((await post(at(ms))).status, 202);
  }
});

test("data has at most 256 KiB as JSON, not counting white space", async (t) => {
  const { post, pointersOf, order } = await aPublisherApi(t, db);
  const note = (bytes: number) => ({
    ...order,
    type: "note.added",
    data: { text: "ü".repeat((bytes - 11) / 2) + "x".repeat((bytes - 11) % 2) },
  });
  assert.deepEqual(await pointersOf(note(256 * 1024 + 1)), ["/data"]);
  const fits = note(256 * 1024);
  assert.equal(Buffer.byteLength(JSON.stringify(fits.data)), 256 * 1024);
  assert.equal((await post(fits)).status, 202);
});

test("a body has at most 4 MiB here, and 64 KiB elsewhere", async (t) => {
  const { postText, order, post, ask } = await aPublisherApi(t, db);
  const text = JSON.stringify({ events: [order] });
  const send = async (bytes: number) => {
    const { statusCode } = await postText(text + " ".repeat(bytes - text.length));
    return statusCode;
  };
  assert.equal(await send(4 * 1024 * 1024), 202);
  assert.equal(await send(4 * 1024 * 1024 + 1), 413);
  assert.equal((await post(order)).status, 202);
  const slug = { slug: "x".repeat(64 * 1024) };
  const refused = await ask({ method: "POST", url: "organizations", body: slug });
  assert.equal(refused.status, 413);
  assert.match(refused.text, /64 KiB/);
});

const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;

const LOST: [what: string, data: string, pointer: string][] = [
  ["a member twice", '{"a":{"b":1,"c":2,"b":1}}', "/a/b"],
  ["a member twice, once with an escape", '{"a":1,"\\u0061":2}', "/a"],
  ["an integer beyond 2^53 - 1", '{"n":[1,9007199254740992]}', "/n/1"],
  ["a negative integer beyond", '{"n":-9007199254740992}', "/n"],
  ["more digits than a double keeps", '{"a":{"n":123456789012345.123456}}', "/a/n"],
  ["more decimals than a double keeps", '{"n":[[0.1234567890123456789]]}', "/n/0/0"],
  ["a number that a double makes 0", '{"n":1e-400}', "/n"],
  ["a number beyond all bounds", '{"n":1e400}', "/n"],
  ["NUL", '{"a":["\\u0000"]}', "/a/0"],
  ["NUL in a name", '{"a":{"\\u0000":1}}', "/a/\0"],
  ["a lone surrogate", '{"a":"\\ud800"}', "/a"],
  ["surrogates in the wrong order", '{"a":"\\udc00\\ud800"}', "/a"],
  ["__proto__", '{"a":{"__proto__":{"b":1}}}', "/a/__proto__"],
  ["more than 100 levels", `{"a":${nested(100)}}`, `/a${"/0".repeat(99)}`],
  ["10,000 levels", `{"a":${nested(10_000)}}`, `/a${"/0".repeat(99)}`],
];

for (const [what, data, pointer] of LOST) {
  test(`data that would change on its way is refused: ${what}`, async (t) => {
    const { postText, slug, countEvents } = await aPublisherApi(t, db);
    const event = `{"organization":"${slug}","type":"note.added","data":${data}}`;
    for (const [body, at] of [
      [event, "/data"],
      [`{"events":[${event}]}`, "/events/0/data"],
    ] as const) {
      const { statusCode, payload } = await postText(body);
      assert.equal(statusCode, 422, payload);
      const { errors } = JSON.parse(payload) as { errors: Fault[] };
      assert.deepEqual(column(errors, "pointer"), [at + pointer]);
    }
    assert.equal(await countEvents(), 0);
  });
}

test("data at the limits of JSON arrives unchanged", async (t) => {
  const { postText, slug, ask } = await aPublisherApi(t, db);
  const data =
    '{"text":"\\u001f\\u2028\\ud83d\\ude00\\u007f\\"\\\\","n":[9007199254740991,-1.5e-300,0.1],' +
    `"empty":{},"constructor":null,"deep":${nested(99)}}`;
  const { statusCode, payload } = await postText(
    `{"organization":"${slug}","type":"note.added","data":${data}}`,
  );
  assert.equal(statusCode, 202, payload);
  const { event_id } = JSON.parse(payload) as PublishedView;
  const shown = await ask({ url: `events/${event_id}` });
  assert.deepEqual((shown.body as EventView).data, JSON.parse(data));
});

test("a body that is not JSON is malformed, not invalid", async (t) => {
  const { postText } = await aPublisherApi(t, db);
  for (const payload of ["", "{", "[".repeat(30_000), "\xff", "NaN"]) {
    const { statusCode } = await postText(Buffer.from(payload, "latin1"));
    assert.equal(statusCode, 400);
  }
});
