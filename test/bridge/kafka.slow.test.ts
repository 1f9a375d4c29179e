// Depends on: src, package.json

import assert from "node:assert/strict";
import { test } from "node:test";
import { Kafka, logLevel } from "kafkajs";
import { aBridge, aFakeService } from "../support/bridge.ts";
import { skipOrFail } from "../support/required.ts";
import { checkConnections, tlsFiles } from "./connections.ts";
import { aKafkaBroker, aLoadingCoordinator, hasKafka, startKafka } from "./kafka-broker.ts";
import { assertBalanced, runLedger } from "./ledger.ts";
import { SHORT } from "./plans.ts";
import { checkStarting } from "./starting.ts";

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
