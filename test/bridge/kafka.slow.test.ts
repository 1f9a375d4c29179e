// Depends on: src, package.json

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import kafkajs, { type KafkaMessage } from "kafkajs";
import { aBridge, aFakeService, checked, openSource } from "../support/bridge.ts";
import type { Source } from "../../src/bridge/source.ts";
import { skipOrFail } from "../support/required.ts";
import { checkConnections, tlsFiles } from "./connections.ts";
import {
  aKafkaBroker,
  aLoadingCoordinator,
  consoleProduce,
  hasKafka,
  startKafka,
} from "./kafka-broker.ts";
import { assertBalanced, runLedger } from "./ledger.ts";
import { SHORT } from "./plans.ts";
import { checkStarting } from "./starting.ts";

const { CompressionTypes, ConfigResourceTypes, Kafka, logLevel } = kafkajs;

test("each record is one event while bridges, service, database and broker are killed", async (t) => {
  if (!hasKafka()) {
    skipOrFail(t, "Kafka is not installed: mvn -f brokers dependency:copy-dependencies");
    return;
  }
  const plan = { ...SHORT, seed: Math.floor(Math.random() * 2 ** 31) };
  const ledger = await runLedger(aKafkaBroker, plan);
  t.diagnostic(JSON.stringify({ seed: plan.seed, ...ledger }));
  assertBalanced(ledger);
});

test("an offset is committed after publication, what is bad goes to its topic, and a lost offset is a stop", async (t) => {
  if (!hasKafka()) {
    skipOrFail(t, "Kafka is not installed: mvn -f brokers dependency:copy-dependencies");
    return;
  }
  const { brokers } = await startKafka(t);
  const kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING });
  const [admin, producer] = [kafka.admin(), kafka.producer()];
  t.after(() => Promise.all([admin.disconnect(), producer.disconnect()]).then(() => undefined));
  await Promise.all([admin.connect(), producer.connect()]);
  await admin.createTopics({ topics: [{ topic: "orders" }, { topic: "orders.aside" }] });
  const structured = {
    ...{ specversion: "1.0", id: "1", source: "/shop", type: "order.created" },
    data: { n: 2 },
  };
  const binary = {
    ...{ ce_specversion: "1.0", ce_id: "2", ce_source: "/shop", ce_type: "order.created" },
  };
  await producer.send({
    topic: "orders",
    messages: [
      { key: "a", value: "no JSON" },
      { key: "a", value: JSON.stringify(structured) },
      { key: "a", value: '{"n":3.10}', headers: binary },
      { key: "a", value: null },
    ],
  });
  const service = await aFakeService(t, () => ({ status: 202 }));
  const source = {
    ...{ name: "orders", kind: "kafka", brokers, topics: ["orders"], group: "bridge" },
    ...{ event: { organization: { from: "topic" } }, set_aside: { topic: "orders.aside" } },
  };
  const bridge = await aBridge(t, { url: service.url, sources: [source] });
  await service.until((asked) => asked.flatMap(({ events }) => events).length === 2);
  const events = service.asked.flatMap((asked) => asked.events);
  assert.deepEqual(
    events.map((event) => [event["organization"], event["dedupe_key"]]),
    [
      ["orders", "sha256:" + String(events[0]?.["dedupe_key"]).slice(7)],
      ["orders", "sha256:" + String(events[1]?.["dedupe_key"]).slice(7)],
    ],
  );
  await bridge.logged((line) => line["msg"] === "set aside");
  const committed = async () => {
    const [topic] = await admin.fetchOffsets({ groupId: "bridge", topics: ["orders"] });
    return topic?.partitions[0]?.offset;
  };
  while ((await committed()) !== "4") await new Promise(setImmediate);
  const [aside] = await admin.fetchTopicOffsets("orders.aside");
  assert.equal(aside?.high, "1");
  assert.match((await bridge.get("/metrics")).text, /lag_messages{source="orders"} 0\n/);
  await bridge.stop();

  await admin.setOffsets({
    ...{ groupId: "bridge", topic: "orders" },
    partitions: [{ partition: 0, offset: "99" }],
  });
  const next = await aBridge(t, { url: service.url, sources: [source] });
  const { why } = await next.logged((line) => line["level"] === "error");
  assert.match(String(why), /is at offset 99 of orders\/0, which holds 0 to 4/);
});

test("a coordinator that is loading is waited for, by a check and by a bridge, without an error", async (t) => {
  if (!hasKafka()) {
    skipOrFail(t, "Kafka is not installed: mvn -f brokers dependency:copy-dependencies");
    return;
  }
  const coordinator = await aLoadingCoordinator(t);
  const { port } = await startKafka(t, undefined, coordinator.port);
  coordinator.state.brokerPort = port;
  const brokers = [`127.0.0.1:${coordinator.port}`];
  const kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING });
  const [admin, producer] = [kafka.admin(), kafka.producer()];
  t.after(() => Promise.all([admin.disconnect(), producer.disconnect()]).then(() => undefined));
  await Promise.all([admin.connect(), producer.connect()]);
  await admin.createTopics({ topics: [{ topic: "orders" }, { topic: "orders.aside" }] });
  await producer.send({ topic: "orders", messages: [{ value: '{"n":1}' }] });
  const warnings = await checkStarting(t, {
    ...{ kind: "kafka", brokers, topics: "orders", group: "bridge" },
    event: { organization: "acme", type: "order.created", data: { pointer: "" } },
    set_aside: { topic: "orders.aside" },
    begin: () => (coordinator.state.joins = 3),
  });
  assert.ok(warnings >= 3, "a broker that really is loading makes them more");
});

test("records that were removed before they were read stop the bridge also while it runs, and its offset stays", async (t) => {
  const kafka = await aTopic(t);
  if (kafka === null) return;
  const { admin, producer, source } = kafka;
  let isAway = true;
  const service = await aFakeService(t, () => (isAway ? { status: 503 } : { status: 202 }));
  const messages = Array.from({ length: 3_000 }, (_, n) => ({
    value: JSON.stringify({ n, text: "x".repeat(1_000) }),
  }));
  const send = async (from: number, to: number) => {
    for (let at = from; at < to; at += 500)
      await producer.send({ topic: "orders", messages: messages.slice(at, at + 500) });
  };
  await send(0, 2_000);
  const bridge = await aBridge(t, { url: service.url, sources: [source] });
  await service.until((asked) => asked.length > 5);
  await send(2_000, 3_000);
  const { text } = await bridge.get("/metrics");
  assert.match(text, /lag_messages{source="orders"} 3000\n/, "what comes while nothing is fetched");
  const removed = [{ partition: 0, offset: "2990" }];
  await admin.fetchTopicOffsets("orders"); // Else the client does not know the topic.
  await admin.deleteTopicRecords({ topic: "orders", partitions: removed });
  isAway = false;
  const removal = "records of orders/0 were removed before they were read";
  await bridge.logged(({ why }) => why === removal);
  const lost = await bridge.logged(({ why: said }) =>
    String(said).startsWith("the group bridge is at"),
  );
  const at = Number(
    /at offset (\d+) of orders\/0, which holds 2990/.exec(String(lost["why"]))?.[1],
  );
  assert.ok(at >= 500 && at <= 2_000, String(lost["why"])); // All that was fetched may be published.
  assert.equal(await kafka.committed(), String(at));
  await bridge.stop();
  await admin.setOffsets({ groupId: "bridge", topic: "orders", partitions: removed });
  await aBridge(t, { url: service.url, sources: [source] });
  await service.until((asked) => numbersIn(asked).has(2_999));
});

test("with begin: latest a topic is read from its end once, and then nothing is passed over", async (t) => {
  const kafka = await aTopic(t, 2);
  if (kafka === null) return;
  const { admin, producer, source } = kafka;
  const send = (n: number, partition: number) =>
    producer.send({ topic: "orders", messages: [{ value: `{"n":${n}}`, partition }] });
  for (const n of [1, 2]) await send(n, n % 2);
  const service = await aFakeService(t, () => ({ status: 202 }));
  const rig = { url: service.url, sources: [{ ...source, begin: "latest" }] };
  assert.match(await checked(rig), /^ok +orders: no message waits$/m);
  const first = await aBridge(t, rig);
  while ((await kafka.committed()) !== "1") await sleep(20);
  await send(3, 0);
  await service.until((asked) => numbersIn(asked).has(3));
  await first.stop();
  await send(4, 1);
  await admin.createPartitions({ topicPartitions: [{ topic: "orders", count: 3 }] });
  await producer.disconnect(); // It would drop a record of a partition that it does not know.
  await producer.connect();
  await send(5, 2);
  assert.match(await checked(rig), /the first message becomes .*"data":{"n":[45]}/);
  await aBridge(t, rig);
  await service.until((asked) => numbersIn(asked).size >= 3);
  assert.deepEqual([...numbersIn(service.asked)].toSorted(), [3, 4, 5]);
});

test("a record that another balancing has given back is not set aside, because it comes again", async (t) => {
  const kafka = await aTopic(t);
  if (kafka === null) return;
  const { admin, producer, source } = kafka;
  await producer.send({ topic: "orders", messages: [{ value: "no JSON" }] });
  const open = () => openSource(t, { url: "", sources: [source] });
  const sources = [open(), open()] as const;
  const takenBy = async (some: readonly Source[]) => {
    for (;;) {
      for (const one of some) {
        const [message] = await one.receive(1, 500).catch(unlessItStarts(one));
        if (message) return { one, message };
      }
    }
  };
  const before = await takenBy(sources.slice(0, 1));
  const { one, message } = await takenBy(sources);
  assert.equal(await before.one.setAside(before.message, "not JSON"), false);
  const asideCount = async () => (await admin.fetchTopicOffsets("orders.aside"))[0]?.high;
  assert.equal(await asideCount(), "0");
  assert.equal(await one.setAside(message, "not JSON"), true);
  assert.equal(await asideCount(), "1");
});

/** Of a group that is new, the coordinator may still be loading. */
function unlessItStarts(source: Source): (error: unknown) => [] {
  return (error) => {
    if (source.isStarting?.(error) === true) return [];
    throw error;
  };
}

test("records in every codec of Kafka are read, as Java's client and the broker write them", async (t) => {
  const kafka = await aTopic(t);
  if (kafka === null) return;
  const { admin, producer, source, brokers } = kafka;
  const textOf = (n: number) => createHash("sha256").update(String(n)).digest("hex").repeat(20);
  const numbers = (from: number) => Array.from({ length: 300 }, (_, i) => from + i);
  const valueOf = (n: number) => JSON.stringify({ n, text: textOf(n) });
  const codecs = ["none", "gzip", "snappy", "lz4", "zstd"];
  for (const [i, codec] of codecs.entries()) {
    const lines = numbers(i * 1_000).map((n) => `none:NULL\tk\t${valueOf(n)}\n`);
    await consoleProduce(brokers, lines.join(""), codec);
  }
  for (const [i, codec] of codecs.slice(1).entries()) {
    const configEntries = [{ name: "compression.type", value: codec }];
    const resources = [{ type: ConfigResourceTypes.TOPIC, name: "orders", configEntries }];
    await admin.alterConfigs({ validateOnly: false, resources });
    const messages = numbers((codecs.length + i) * 1_000).map((n) => ({ value: valueOf(n) }));
    await producer.send({ topic: "orders", messages });
  }
  const service = await aFakeService(t, () => ({ status: 202 }));
  await aBridge(t, { url: service.url, sources: [source] });
  await service.until((asked) => numbersIn(asked).size === 9 * 300);
  const read = service.asked.flatMap(({ events }) => events.map(({ data }) => data));
  for (const { n, text } of read as { n: number; text: string }[]) assert.equal(text, textOf(n));
});

test("headers without a value, keys of bytes and large compressed records stop nothing, and are kept", async (t) => {
  const kafka = await aTopic(t);
  if (kafka === null) return;
  const { producer, source, brokers } = kafka;
  const long = (n: number) => Buffer.from([0, 0, 0, 0, 0, 0, 0, n]);
  const headers = { id: long(0x80), twice: ["a", "b"] };
  const bad = { key: long(1), headers, value: "x".repeat(1_500_000) };
  const good = [0x80, 0x81].map((n) => ({ key: long(n), headers, value: `{"n":${n}}` }));
  await producer.send({ topic: "orders", compression: CompressionTypes.GZIP, messages: [bad] });
  await producer.send({ topic: "orders", messages: [...good, { key: null, value: '{"n":1}' }] });
  // As the client cannot write it: a header without a value, and a key and a value that are texts.
  await consoleProduce(brokers, 'none:NULL\tk\t{"n":2}\nnone:NULL\tk2\tbad\n');
  const service = await aFakeService(t, () => ({ status: 202 }));
  const event = { ...source.event, dedupe_key: { from: "key" } };
  const bridge = await aBridge(t, { url: service.url, sources: [{ ...source, event }] });
  await service.until((asked) => asked.flatMap(({ events }) => events).length === 4);
  const keys = service.asked.flatMap(({ events }) => events.map((one) => one["dedupe_key"]));
  assert.deepEqual(keys, ["0000000000000080", "0000000000000081", "orders:orders/0/3", "k"]);
  await bridge.stop();
  const reader = new Kafka({ brokers, logLevel: logLevel.NOTHING }).consumer({ groupId: "aside" });
  await reader.subscribe({ topics: ["orders.aside"], fromBeginning: true });
  const found: KafkaMessage[] = [];
  await reader.run({
    eachMessage: ({ message }) => {
      found.push(message);
      return Promise.resolve();
    },
  });
  while (found.length < 2) await sleep(20);
  await reader.disconnect(); // Before the broker ends, or it would try again for long.
  const [aside, other] = found as [KafkaMessage, KafkaMessage];
  assert.deepEqual(aside.key, bad.key);
  assert.equal(aside.value?.length, 1_500_000);
  const { headers: kept = {} } = aside;
  assert.deepEqual(kept["id"], long(0x80));
  assert.deepEqual(
    kept["twice"],
    ["a", "b"].map((text) => Buffer.from(text)),
  );
  assert.equal(String(kept["partner-api-reason"]), "the message is not JSON");
  assert.equal(String(other.value), "bad");
});

/** A topic and one for what is set aside, on a server of their own. Null if there is none. */
async function aTopic(t: TestContext, numPartitions = 1) {
  if (!hasKafka()) {
    skipOrFail(t, "Kafka is not installed: mvn -f brokers dependency:copy-dependencies");
    return null;
  }
  const { brokers } = await startKafka(t);
  const kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING });
  const [admin, producer] = [kafka.admin(), kafka.producer()];
  t.after(() => Promise.all([admin.disconnect(), producer.disconnect()]).then(() => undefined));
  await Promise.all([admin.connect(), producer.connect()]);
  const topics = [{ topic: "orders", numPartitions }, { topic: "orders.aside" }];
  await admin.createTopics({ topics });
  const source = {
    ...{ name: "orders", kind: "kafka", brokers, topics: ["orders"], group: "bridge" },
    event: { organization: "acme", type: "order.created", data: { pointer: "" } },
    set_aside: { topic: "orders.aside" },
  };
  const committed = async () => {
    const [topic] = await admin.fetchOffsets({ groupId: "bridge", topics: ["orders"] });
    return topic?.partitions[0]?.offset;
  };
  return { brokers, admin, producer, source, committed };
}

function numbersIn(asked: readonly { events: Record<string, unknown>[] }[]): Set<number> {
  const events = asked.flatMap((one) => one.events);
  return new Set(events.map(({ data }) => (data as { n: number }).n));
}

const PASSWORD = "of-the-bridge-at-the-broker";

for (const mechanism of ["scram-sha-512", "plain"] as const) {
  test(`over TLS with ${mechanism}, records are published, and each fault of a connection is named`, async (t) => {
    if (!hasKafka()) {
      skipOrFail(t, "Kafka is not installed: mvn -f brokers dependency:copy-dependencies");
      return;
    }
    const files = await tlsFiles(t);
    const { brokers, secured } = await startKafka(t, { files, password: PASSWORD });
    const kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING });
    const [admin, producer] = [kafka.admin(), kafka.producer()];
    t.after(() => Promise.all([admin.disconnect(), producer.disconnect()]).then(() => undefined));
    await Promise.all([admin.connect(), producer.connect()]);
    await admin.createTopics({ topics: [{ topic: "orders" }, { topic: "orders.aside" }] });
    await producer.send({ topic: "orders", messages: [{ value: '{"n":1}' }] });
    const sasl = { mechanism, username: "bridge", password: PASSWORD };
    const tls = { ca: files.authority };
    await checkConnections(t, {
      source: {
        ...{ name: "orders", kind: "kafka", brokers: secured, topics: "orders", group: "bridge" },
        event: { organization: "acme", type: "order.created", data: { pointer: "" } },
        ...{ set_aside: { topic: "orders.aside" }, tls, sasl },
      },
      secrets: [PASSWORD, "wrong-password"],
      faults: [
        [{ sasl: { ...sasl, password: "wrong-password" } }, /authentication failed|credentials/i],
        [{ tls: {} }, /certificate/],
        [{ tls: { ca: files.stranger } }, /certificate/],
        [{ brokers: secured.map((one) => one.replace("localhost", "127.0.0.1")) }, /altnames|IP/],
      ],
    });
  });
}
