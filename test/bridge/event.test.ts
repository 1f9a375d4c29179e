import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parse, stringify } from "yaml";
import { readConfiguration } from "../../src/bridge/configuration.ts";
import { byPointer, type Mapping, toEvent } from "../../src/bridge/event.ts";
import { JsonText, parsePointer } from "../../src/bridge/json-text.ts";
import type { Message } from "../../src/bridge/source.ts";
import { samplesOf } from "../support/page-samples.ts";

const message = (body: string | Uint8Array, headers: Record<string, string> = {}): Message => ({
  ...{ lane: "", identity: "orders/0/7", body, from: { topic: "acme" } },
  headers: new Map(Object.entries(headers)),
});

const becoming = (mapping: Mapping, defaults: Mapping = {}) => ({
  source: "shop",
  mapping,
  defaults,
});

const MAPPING: Mapping = {
  organization: { pointer: ["tenant"] },
  type: { constant: '"order.created"' },
  data: { pointer: ["payload"] },
};

test("what a pointer names keeps its text, among any other members", () => {
  const key = fc.constantFrom("a", "b/c", "~", "", "é", '"', "0");
  const { document } = fc.letrec((tie) => ({
    document: fc.oneof(
      { maxDepth: 4 },
      fc.jsonValue({ maxDepth: 0 }),
      fc.array(tie("document"), { maxLength: 4 }),
      fc.dictionary(key, tie("document"), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(
      document,
      fc.array(key, { maxLength: 4 }),
      fc.constantFrom(0, 2),
      (value, path, space) => {
        const text = new JsonText(JSON.stringify(value, null, space)).at(path);
        let expected: unknown = value;
        for (const name of path) {
          const isOwn =
            typeof expected === "object" && expected !== null && Object.hasOwn(expected, name);
          expected = isOwn ? (expected as Record<string, unknown>)[name] : undefined;
        }
        assert.equal(text && JSON.stringify(JSON.parse(text)), JSON.stringify(expected));
      },
    ),
  );
});

test("numbers, the order of members and escapes are published as they were written", () => {
  const payload = String.raw`{"z":1.10,"a":123456789012345678901234567890,"e":1E+2,"s":"\u00e9\"}"}`;
  const { json } = toEvent(
    message(`{"tenant":"acme", "payload" : ${payload} }`),
    becoming(MAPPING),
  );
  assert.ok(json.includes(`"data":${payload}`), json);
});

test("a pointer goes on in a string that is JSON, as SNS and Debezium write it, and in no other", () => {
  const inner = '{"tenant":"acme", "price":1.10, "lines":[{"n":"{\\"of\\":2}"}]}';
  const notification = new JsonText(JSON.stringify({ Type: "Notification", Message: inner }));
  assert.equal(notification.at(["Message", "tenant"]), '"acme"');
  assert.equal(notification.at(["Message", "price"]), "1.10");
  assert.equal(notification.at(["Message", "lines", "0", "n", "of"]), "2");
  assert.equal(notification.at(["Message"]), JSON.stringify(inner));
  for (const path of [
    ["Type", "0"],
    ["Message", "none"],
    ["Message", "price", "x"],
  ])
    assert.equal(notification.at(path), undefined);
  assert.equal(new JsonText(JSON.stringify(inner)).at(["tenant"]), '"acme"', "the whole message");
});

test("a string that contains an object is unwrapped, and other strings are not", () => {
  const data = (payload: string) =>
    toEvent(message(JSON.stringify({ tenant: "a", payload })), becoming(MAPPING)).json;
  assert.ok(data('{"n":1.0}').includes('"data":{"n":1.0}'));
  assert.ok(data("[1]").includes('"data":"[1]"'));
});

test("the identity is the default key, and what is no key becomes its digest", () => {
  const key = (mapping: Mapping, body = '{"tenant":7,"payload":{}}') =>
    JSON.parse(toEvent(message(body), becoming({ ...MAPPING, ...mapping })).json) as Record<
      string,
      unknown
    >;
  assert.equal(key({})["dedupe_key"], "shop:orders/0/7");
  assert.equal(key({})["organization"], "7");
  const spaced = { constant: '"with space"' };
  assert.match(String(key({ dedupe_key: spaced })["dedupe_key"]), /^sha256:[\w-]{43}$/);
});

test("an empty key identifies nothing: the message's own identity counts, or two events would be one", () => {
  const keyOf = (identity: string | null) =>
    toEvent(
      { ...message('{"tenant":"a","payload":{},"id":""}'), identity },
      becoming({ ...MAPPING, dedupe_key: { pointer: ["id"] } }),
    ).json;
  assert.match(keyOf("orders/0/7"), /"dedupe_key":"shop:orders\/0\/7"/);
  assert.throws(() => keyOf(null), { message: "dedupe_key: the message has no /id" });
});

test("an integer counts seconds, milliseconds, microseconds or nanoseconds", () => {
  for (const at of ["1764291723", "1764291723000", "1764291723000000", "1764291723000000000"]) {
    const mapping: Mapping = { ...MAPPING, occurred_at: { pointer: ["at"] } };
    const { json } = toEvent(message(`{"tenant":"a","payload":{},"at":${at}}`), becoming(mapping));
    assert.ok(json.includes('"occurred_at":"2025-11-28T01:02:03.000Z"'), json);
  }
});

test("what is missing, no JSON, no UTF-8 or too large can never be published, and the reason says it", () => {
  const reasonOf = (body: string | Uint8Array, mapping = MAPPING, headers = {}) => {
    try {
      toEvent(message(body, headers), becoming(mapping));
      return "published";
    } catch (error) {
      return (error as Error).message;
    }
  };
  assert.equal(
    reasonOf("{}"),
    "organization: the message has no /tenant; data: the message has no /payload",
  );
  assert.equal(reasonOf("no"), "the message is not JSON");
  assert.equal(reasonOf(Buffer.from([0xff])), "the message is not UTF-8");
  assert.match(
    reasonOf("{}", {}),
    /^organization is not configured, and the message is not a CloudEvent/,
  );
  assert.match(
    reasonOf("{}", { ...MAPPING, type: { header: "ce-type" } }),
    /type: the message has no header ce-type/,
  );
  const large = JSON.stringify({ tenant: "a", payload: { text: "x".repeat(4_200_000) } });
  assert.equal(reasonOf(large), "the event is larger than 4 MiB");
  const old = { ce_specversion: "0.3", ce_id: "1" };
  assert.equal(reasonOf("{}", MAPPING, old), "the message is a CloudEvent of version 0.3, not 1.0");
});

test("CloudEvents need no configuration but the organization, in both modes", () => {
  const mapping: Mapping = { organization: { from: "topic" } };
  const attributes = {
    id: "1 2",
    source: "/shop",
    type: "order.created",
    time: "2026-11-28T01:02:03Z",
  };
  const structured = JSON.stringify({ specversion: "1.0", ...attributes, data: { n: 1 } });
  const base64 = JSON.stringify({
    ...{ specversion: "1.0", ...attributes },
    data_base64: Buffer.from('{"n":1}').toString("base64"),
  });
  const headers = (prefix: string) =>
    Object.fromEntries(
      Object.entries({ specversion: "1.0", ...attributes }).map(([name, value]) => [
        prefix + name,
        value,
      ]),
    );
  const events = [
    toEvent(message(structured), becoming(mapping)),
    toEvent(message(base64), becoming(mapping)),
    ...["ce-", "ce_", "cloudevents:", "cloudevents_"].map((prefix) =>
      toEvent(message('{"n":1}', headers(prefix)), becoming(mapping)),
    ),
  ].map(({ json }) => json);
  assert.deepEqual(new Set(events).size, 1, events.join("\n"));
  const [event = ""] = events;
  assert.match(
    event,
    /^{"organization":"acme","type":"order.created","data":{"n":1},"occurred_at":"2026-11-28T01:02:03Z",/,
  );
});

test("two CloudEvents whose sources differ in an encoded character are two events", () => {
  const keyOf = (source: string) => {
    const headers = { "ce-specversion": "1.0", "ce-id": "1", "ce-type": "order.created" };
    const sent = message("{}", { ...headers, "ce-source": source });
    return toEvent(sent, becoming({ organization: { constant: '"acme"' } })).json;
  };
  assert.notEqual(keyOf("/orders%2F1"), keyOf("/orders/1"));
});

test("what is configured comes before a CloudEvent, and that before a default", () => {
  const body = JSON.stringify({
    ...{ specversion: "1.0", id: "1", source: "s", type: "a.b", organization: "acme" },
    data: {},
  });
  const { json } = toEvent(
    message(body),
    becoming({ type: { constant: '"c.d"' } }, byPointer("organization", "data")),
  );
  assert.match(json, /"organization":"acme","type":"c.d","data":{}/);
});

test("the page's mapping reads a notification of SNS, in which the message is a string", async () => {
  const { sample } = await samplesOf("bridge.md");
  const source = {
    name: "a",
    kind: "sqs",
    queue: "https://h/1/a",
    set_aside: { queue: "https://h/1/b" },
  };
  const sources = [{ ...source, ...(parse(sample("yaml sns")) as object) }];
  const faults: string[] = [];
  const read = { env: {}, readFile: () => "" };
  const [configured] = readConfiguration(stringify({ sources }), read, faults);
  assert.deepEqual(faults, []);
  const { json } = toEvent(
    message(
      JSON.stringify({
        ...{ Type: "Notification", MessageId: "0b5f", Timestamp: "2026-11-28T01:02:03.004Z" },
        Message: '{"tenant": "acme", "price": 1.10}',
        MessageAttributes: { type: { Type: "String", Value: "order.created" } },
      }),
    ),
    becoming(configured?.mapping ?? {}),
  );
  assert.equal(
    json,
    '{"organization":"acme","type":"order.created","data":{"tenant": "acme", "price": 1.10},' +
      '"occurred_at":"2026-11-28T01:02:03.004Z","dedupe_key":"0b5f"}',
  );
});

test("the mapping and the source of the page that no broker's test reads have no fault", async () => {
  const { sample } = await samplesOf("bridge.md");
  const outbox = { name: "a", kind: "outbox", url: "postgres://h/d" };
  const mapped = stringify({
    sources: [{ ...outbox, ...(parse(sample("yaml event")) as object) }],
  });
  for (const text of [mapped, sample("yaml kafka")]) {
    const faults: string[] = [];
    readConfiguration(text, { env: { KAFKA_PASSWORD: "x" }, readFile: () => "x" }, faults);
    assert.deepEqual(faults, []);
  }
});

test("one error names every fault of a configuration, and quotes no value", () => {
  const faults: string[] = [];
  const secrets = { env: { EMPTY: "" }, readFile: () => assert.fail("not there") };
  readConfiguration(
    `
sources:
  - name: "bad name"
    kind: outbox
    url: { env: EMPTY }
    poll: soon
    colums: {}
    columns: { identifier: id }
    event: { type: { pointer: no-slash }, data: { from: nowhere }, when: now }
  - { name: a, kind: rabbits }
  - { name: a, kind: kafka, topics: [], brokers: [1.2.3.4:9092] }
  - { name: b, kind: outbox, url: "https://secret@host/x" }
  - 7
other: 1`,
    secrets,
    faults,
  );
  assert.deepEqual(faults.toSorted(), FAULTS);
});

test("an address that no client could use is a fault of the configuration, and not one of each attempt", () => {
  const noUrl = "sources[0].url is no URL: in a password, write / as %2F, : as %3A and @ as %40";
  for (const scheme of ["postgres", "mariadb"])
    assert.deepEqual(faultsOf(`kind: outbox, url: "${scheme}://u:a/b@h/d"`), [noUrl]);
  const rabbit = "kind: rabbitmq, queues: a, set_aside: { queue: b }";
  assert.deepEqual(faultsOf(`${rabbit}, url: ["amqp://h", "amqp://u:a/b@h"]`), [noUrl]);
  const redis = "kind: redis, streams: a, set_aside: { stream: b }";
  assert.deepEqual(faultsOf(`${redis}, url: "redis://u:a/b@h"`), [noUrl]);
  const sqs = 'kind: sqs, set_aside: { queue: "https://h/1/a" }, queue: "https://h"';
  assert.deepEqual(faultsOf(sqs), ["sources[0].queue must be the URL of a queue"]);
  const kafka = "kind: kafka, topics: a, group: b, set_aside: { topic: c }";
  for (const broker of ["kafka-1", "kafka://kafka-1:9092"])
    assert.deepEqual(faultsOf(`${kafka}, brokers: ["h:9092", "${broker}"]`), [
      "sources[0].brokers must be host:port",
    ]);
  const sound = ["postgres://u:a%2Fb@h/d", "postgres://u@/d?host=/run", "postgres://%2Frun/d"];
  for (const url of sound) assert.deepEqual(faultsOf(`kind: outbox, url: "${url}"`), [], url);
});

test("settings of TLS beside a URL without TLS are a fault, and do not go in clear text", () => {
  const faults: string[] = [];
  const source = (kind: string, url: string, what: string) =>
    `  - { name: ${kind}, kind: ${kind}, url: "${url}", ${what}: a, tls: {}, set_aside: { queue: b } }\n`;
  const redis = source("redis", "redis://r", "streams").replace("queue", "stream");
  const text = `sources:\n${source("rabbitmq", "amqp://r", "queues")}${redis}`;
  readConfiguration(text, { env: {}, readFile: () => "" }, faults);
  assert.deepEqual(faults, [
    "sources[0].tls needs a URL that begins with amqps://",
    "sources[1].tls needs a URL that begins with rediss://",
  ]);
});

test("TLS needs the name of a server whose address the client would not compare with the certificate", () => {
  const nats = (servers: string) =>
    faultsOf(`kind: nats, servers: ${servers}, stream: a, set_aside: { subject: b }, tls: {}`);
  const mysql = (url: string) => faultsOf(`kind: outbox, url: "${url}", tls: {}`);
  const fault =
    "sources[0].tls needs a name in place of an IP address, which the client does not check";
  for (const servers of ["'10.0.0.1:4222'", "['n:4222', 'tls://[::1]:4222']", "'[fd00::1]:4222'"])
    assert.deepEqual(nats(servers), [fault], servers);
  for (const url of ["mysql://u:p@127.0.0.1/a", "mariadb://[::1]:3306/a"])
    assert.deepEqual(mysql(url), [fault], url);
  assert.deepEqual([...nats("'nats-1:4222'"), ...mysql("mysql://u:p@db-1/a")], []);
  assert.deepEqual(mysql("mysql://u:p@db-1/a?ssl={}"), [
    "sources[0].url must have no `ssl`: use `tls`",
  ]);
});

function faultsOf(source: string): string[] {
  const faults: string[] = [];
  const secrets = { env: {}, readFile: () => "" };
  readConfiguration(`sources: [{ name: a, ${source} }]`, secrets, faults);
  return faults;
}

const FAULTS = [
  "other is unknown",
  "sources: two have the name a",
  "sources[0].columns.identifier is unknown",
  "sources[0].colums is unknown",
  "sources[0].event.data must be a constant, {pointer: /a/b}, {header: name} or {from: topic | key | subject | queue | stream}",
  "sources[0].event.type must be a constant, {pointer: /a/b}, {header: name} or {from: topic | key | subject | queue | stream}",
  "sources[0].event.when is unknown",
  "sources[0].name must be 1 to 64 letters, digits, dots, _ and -",
  "sources[0].poll must be a duration from 1ms to 1m",
  "sources[0].url is in the variable EMPTY, which is empty",
  "sources[1].kind must be one of outbox, kafka, rabbitmq, nats, redis, sqs",
  "sources[2].group is missing",
  "sources[2].set_aside.topic is missing",
  "sources[2].topics must not be empty",
  "sources[3].url must begin with postgres:// or postgresql:// or mysql:// or mariadb://",
  "sources[4] must be an object",
  "sources[4].kind is missing: it must be one of outbox, kafka, rabbitmq, nats, redis, sqs",
  "sources[4].name is missing",
];

test("a pointer is one of RFC 6901", () => {
  assert.deepEqual(parsePointer(""), []);
  assert.deepEqual(parsePointer("/a~1b/~0/"), ["a/b", "~", ""]);
  for (const malformed of ["a", "/~", "/~2"]) assert.equal(parsePointer(malformed), null);
});
