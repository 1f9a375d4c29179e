// Depends on: src, docs, package.json

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { existsSync } from "node:fs";
import { test, type TestContext } from "node:test";
import { parse } from "yaml";
import { aBridge, aFakeService, checked, openSource } from "../support/bridge.ts";
import { samplesOf } from "../support/page-samples.ts";
import { skipOrFail } from "../support/required.ts";
import { Afterwards } from "../ledger/afterwards.ts";
import { checkConnections, tlsFiles } from "./connections.ts";
import { assertBalanced, runLedger } from "./ledger.ts";
import { insist } from "./outbox-ledger.ts";
import { SHORT } from "./plans.ts";
import type { ConfirmChannel, GetMessage } from "amqplib";
import { aRabbitMqBroker, channelOf, RABBITMQ, startRabbitMq } from "./rabbitmq-broker.ts";

function hasRabbitMq(t: TestContext): boolean {
  const isThere = existsSync(RABBITMQ);
  if (!isThere) skipOrFail(t, "RabbitMQ is not installed: apt-get install rabbitmq-server");
  return isThere;
}

test("each message is one event while bridges, service, database and broker are killed", async (t) => {
  if (!hasRabbitMq(t)) return;
  const plan = { ...SHORT, seed: Math.floor(Math.random() * 2 ** 31) };
  const ledger = await runLedger(aRabbitMqBroker, plan);
  t.diagnostic(JSON.stringify({ seed: plan.seed, ...ledger }));
  assertBalanced(ledger);
});

test("the page's source publishes and acknowledges, and what is bad goes to its exchange with the reason", async (t) => {
  if (!hasRabbitMq(t)) return;
  const { url, channel, sources } = await anExchange(t);
  const attributes = { specversion: "1.0", id: "1", source: "/shop", type: "order.created" };
  const cloud = Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [`cloudEvents:${name}`, value]),
  );
  const publish = (text: string, options: object) =>
    channel.publish("shop", "order.created", Buffer.from(text), options);
  publish('{"tenant":"acme","at":1764291723}', { messageId: "7", type: "order.created" });
  publish('{"tenant":"acme","n":1.10}', { type: "order.created", headers: cloud });
  publish('{"tenant":"acme"}', { type: "order.created" });
  publish("no JSON", { messageId: "9", headers: { CC: ["orders"] }, expiration: "60000" });
  await channel.waitForConfirms();
  const service = await aFakeService(t, () => ({ status: 202 }));
  const rig = { url: service.url, sources, env: { RABBITMQ_URL: url } };
  const told = await checked(rig);
  assert.match(told, /^ok +orders: queue orders, 4 messages are ready$/m);
  assert.match(told, /the first message becomes {"organization":"acme","type":"order.created"/);

  const bridge = await aBridge(t, rig);
  await service.until((asked) => asked.flatMap(({ events }) => events).length === 2);
  const aside = await taken(channel, "orders.aside", 2);
  const reason = ({ properties: { headers } }: GetMessage) =>
    String(headers?.["partner-api-reason"]);
  assert.deepEqual(aside.map(reason).toSorted(), [
    "the message has no identity: `event.dedupe_key` must say what identifies it",
    "the message is not JSON",
  ]);
  const bad = aside.find(({ properties }) => properties.messageId === "9");
  assert.equal(bad?.fields.routingKey, "order.created");
  assert.equal(bad.properties.expiration, undefined);
  const events = service.asked.flatMap((asked) => asked.events);
  assert.deepEqual(
    events.map((event) => event["dedupe_key"]),
    ["orders:orders/7", `sha256:${String(events[1]?.["dedupe_key"]).slice(7)}`],
  );
  assert.equal(events[0]?.["occurred_at"], "2025-11-28T01:02:03.000Z");
  assert.match((await bridge.get("/metrics")).text, /lag_messages{source="orders"} 0\n/);
  await bridge.stop();
  assert.equal((await channel.checkQueue("orders")).messageCount, 0);
});

test("two headers of different values never are one text", async (t) => {
  if (!hasRabbitMq(t)) return;
  const { url, channel, sources } = await anExchange(t);
  const of = (type: string, value: unknown) => ({ "!": type, value });
  const rounded = of("int64", 9007199254740993n);
  const ids = [
    ...[of("decimal", { places: 2, digits: 1999 }), of("decimal", { places: 3, digits: 5 })],
    ...[of("decimal", { places: 0, digits: 7 }), of("int64", -9007199254740991n)],
    ...[Buffer.from([0, 0x80]), Buffer.from([0, 0x81]), of("timestamp", 1764291723), 1.5, rounded],
  ];
  for (const id of ids) channel.publish("shop", "a", Buffer.from("{}"), { headers: { id } });
  await channel.waitForConfirms();
  const service = await aFakeService(t, () => ({ status: 202 }));
  const event = { organization: "acme", type: "a.b", data: { pointer: "" } };
  const read = { ...sources[0], event: { ...event, dedupe_key: { header: "id" } } };
  await aBridge(t, { url: service.url, sources: [read], env: { RABBITMQ_URL: url } });
  const [aside] = await taken(channel, "orders.aside", 1);
  const reason = aside?.properties.headers?.["partner-api-reason"] as unknown;
  assert.equal(reason, "dedupe_key: the message has no header id");
  await service.until((asked) => asked.flatMap(({ events }) => events).length === 8);
  const keys = service.asked.flatMap(({ events }) => events.map((one) => one["dedupe_key"]));
  const texts = ["19.99", "0.005", "7", "-9007199254740991", "0080", "0081", "1764291723", "1.5"];
  assert.deepEqual(keys, texts);
});

test("what no queue gets is not acknowledged, and neither is a message of a stream", async (t) => {
  if (!hasRabbitMq(t)) return;
  const { url, channel, sources } = await anExchange(t);
  await channel.assertExchange("nowhere", "topic");
  await channel.assertQueue("log", { arguments: { "x-queue-type": "stream" } });
  const service = await aFakeService(t, () => ({ status: 202 }));
  const rig = { url: service.url, env: { RABBITMQ_URL: url } };
  const [source] = sources;
  const lost = { ...source, set_aside: { exchange: "nowhere" } };
  channel.publish("shop", "order.created", Buffer.from("no JSON"), {});
  const first = await aBridge(t, { ...rig, sources: [lost] });
  const { why } = await first.logged((line) => line["level"] === "error");
  assert.equal(why, "no queue gets what is set aside with the key order.created");
  await first.stop();
  assert.equal((await channel.checkQueue("orders")).messageCount, 1);

  const second = await aBridge(t, { ...rig, sources: [{ ...source, queues: "log" }] });
  const writing = setInterval(() => channel.sendToQueue("log", Buffer.from("{}")), 20);
  t.after(() => clearInterval(writing));
  const refused = await second.logged((line) => line["level"] === "error");
  clearInterval(writing);
  assert.equal(refused["why"], "log is a stream, which keeps no acknowledgements");
  const missing = { ...source, queues: ["no", "orders"], set_aside: { queue: "none" } };
  assert.match(
    await checked({ ...rig, sources: [missing] }),
    /^FAILS orders: there is no queue no, no queue none$/m,
  );
});

test("what the bridge holds comes again after the broker's end, and a stop leaves nothing behind", async (t) => {
  if (!hasRabbitMq(t)) return;
  const { url, open, kill, sources } = await anExchange(t);
  let isAway = true;
  const service = await aFakeService(t, () => (isAway ? { status: 503 } : { status: 202 }));
  for (let n = 1; n <= 1_200; n++) {
    const message = Buffer.from(JSON.stringify({ tenant: "acme", n }));
    const options = { messageId: String(n), type: "order.created", persistent: true };
    (await open()).publish("shop", "order.created", message, options);
  }
  await (await open()).waitForConfirms();
  const bridge = await aBridge(t, { url: service.url, sources, env: { RABBITMQ_URL: url } });
  await service.until((asked) => asked.length > 20);
  assert.match((await bridge.get("/metrics")).text, /lag_messages{source="orders"} 1200\n/);
  await kill();
  isAway = false;
  await service.until((asked) => keysOf(asked).size === 1_200);
  while (!(await bridge.get("/metrics")).text.includes('lag_messages{source="orders"} 0\n'));
  await bridge.stop();
  const { messageCount } = await (await open()).checkQueue("orders");
  assert.equal(messageCount, 0);
});

test("the lag counts what is on its way from the broker", async (t) => {
  if (!hasRabbitMq(t)) return;
  const { url, channel, sources } = await anExchange(t);
  for (let n = 1; n <= 1_000; n++) channel.publish("shop", "order.created", Buffer.from("{}"));
  await channel.waitForConfirms();
  const source = openSource(t, { url: "", sources, env: { RABBITMQ_URL: url } });
  const lags: (number | undefined)[] = [];
  for (let received = 0; received < 1_000;) {
    const receiving = source.receive(10, 1_000);
    lags.push((await source.lag())?.messages);
    received += (await receiving).length;
  }
  assert.deepEqual(
    lags.filter((lag) => lag !== undefined && lag < 1_000),
    [],
  );
});

/** The queue and the exchanges of the page, on a server of its own. */
async function anExchange(t: TestContext) {
  const afterwards = new Afterwards();
  t.after(() => afterwards.run());
  const { url, kill } = await startRabbitMq(afterwards);
  const open = channelOf(afterwards, url);
  const channel = await open();
  await channel.assertExchange("shop", "topic");
  await channel.assertExchange("orders.aside", "fanout");
  for (const queue of ["orders", "orders.aside"])
    await channel.assertQueue(queue, { arguments: { "x-queue-type": "quorum" } });
  await channel.bindQueue("orders", "shop", "#");
  await channel.bindQueue("orders.aside", "orders.aside", "");
  const { sample } = await samplesOf("bridge.md");
  const { sources } = parse(sample("yaml rabbitmq")) as { sources: object[] };
  return { url, kill, open, channel, sources };
}

async function taken(channel: ConfirmChannel, queue: string, count: number): Promise<GetMessage[]> {
  const found: GetMessage[] = [];
  while (found.length < count) {
    const one = await channel.get(queue, { noAck: true });
    if (one === false) await sleep(20);
    else found.push(one);
  }
  return found;
}

const keysOf = (asked: readonly { events: Record<string, unknown>[] }[]) =>
  new Set(asked.flatMap(({ events }) => events.map((event) => event["dedupe_key"])));

test("over TLS, messages are published, and each fault of a connection is named", async (t) => {
  if (!hasRabbitMq(t)) return;
  const files = await tlsFiles(t);
  const afterwards = new Afterwards(); // The last opened is closed first: a channel of a broker that is gone never closes.
  t.after(() => afterwards.run());
  const { url, securePort } = await startRabbitMq(afterwards, files);
  const open = channelOf(afterwards, url);
  const channel = await insist(open);
  for (const queue of ["orders", "orders.aside"]) await channel.assertQueue(queue);
  channel.sendToQueue("orders", Buffer.from('{"n":1}'), { messageId: "1" });
  await channel.waitForConfirms();
  const urlOf = (user: string, host = "localhost") => `amqps://${user}@${host}:${securePort}`;
  await checkConnections(t, {
    source: {
      ...{ name: "orders", kind: "rabbitmq", url: urlOf("guest:guest"), queues: "orders" },
      event: { organization: "acme", type: "order.created", data: { pointer: "" } },
      ...{ set_aside: { queue: "orders.aside" }, tls: { ca: files.authority } },
    },
    secrets: ["wrong-password"],
    faults: [
      [{ url: urlOf("guest:wrong-password") }, /ACCESS.REFUSED/i],
      [{ url: `${urlOf("guest:guest")}/else%2Fwhere` }, /refuses the virtual host else\/where$/],
      [{ tls: {} }, /certificate/],
      [{ tls: { ca: files.stranger } }, /certificate/],
      [{ url: urlOf("guest:guest", "127.0.0.1") }, /altnames|IP/],
    ],
  });
});
