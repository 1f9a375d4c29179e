// Depends on: src, docs, package.json

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { getEventListeners } from "node:events";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { headers } from "@nats-io/transport-node";
import { parse } from "yaml";
import { Afterwards } from "../ledger/afterwards.ts";
import { aBridge, aFakeService, checked, openSource } from "../support/bridge.ts";
import { samplesOf } from "../support/page-samples.ts";
import { checkConnections, tlsFiles } from "./connections.ts";
import { assertBalanced, runLedger } from "./ledger.ts";
import { insist } from "./outbox-ledger.ts";
import {
  aNatsBroker,
  aNatsLeaf,
  aNatsPair,
  byCredentials,
  hasNats,
  overTls,
  startNats,
} from "./nats-broker.ts";
import { SHORT } from "./plans.ts";
import { checkStarting } from "./starting.ts";

test("each message is one event while bridges, service, database and server are killed", async (t) => {
  if (!hasNats(t)) return;
  const plan = { ...SHORT, seed: Math.floor(Math.random() * 2 ** 31) };
  const ledger = await runLedger(aNatsBroker, plan);
  t.diagnostic(JSON.stringify({ seed: plan.seed, ...ledger }));
  assertBalanced(ledger);
});

test("the page's source publishes and acknowledges, and what is bad goes to its subject with the reason", async (t) => {
  if (!hasNats(t)) return;
  const { manager, stream, rigFor } = await aStream(t);
  const cloud = headers();
  const attributes = { specversion: "1.0", id: "1", source: "/caf%C3%A9", type: "order.created" };
  for (const [name, value] of Object.entries(attributes)) cloud.set(`ce-${name}`, value);
  cloud.set("event-type", "order.created");
  const typed = headers();
  typed.set("Event-Type", "order.created");
  await stream.publish("orders.1", '{"tenant":"acme","n":1.10}', { headers: typed, msgID: "a" });
  await stream.publish("orders.2", '{"tenant":"acme"}', { headers: cloud });
  await stream.publish("orders.1", "no JSON", { headers: typed, msgID: "c" });
  await stream.publish("orders.3", "x".repeat(1024 * 1024), {});
  const service = await aFakeService(t, () => ({ status: 202 }));
  const rig = rigFor(service.url);
  const told = await checked(rig);
  assert.match(told, /^ok +orders: stream orders of 4 messages$/m);
  assert.match(told, /^ok +orders: the consumer partner-api-bridge is created at the start$/m);
  assert.match(
    told,
    /the first message becomes {"organization":"acme",.*"data":{"tenant":"acme","n":1.10}/,
  );
  assert.equal((await manager.consumers.list("orders").next()).length, 0);

  const bridge = await aBridge(t, rig);
  await service.until((asked) => asked.flatMap(({ events }) => events).length === 2);
  const [plain, event] = service.asked.flatMap(({ events }) => events);
  assert.equal(plain?.["dedupe_key"], "orders:orders/1");
  assert.equal(event?.["dedupe_key"], keyOf("/café 1"));
  while (!(await bridge.get("/metrics")).text.includes('lag_messages{source="orders"} 0\n'));
  const bad = await manager.streams.getMessage("aside", { seq: 1 });
  assert.equal(bad?.string(), "no JSON");
  assert.deepEqual(
    ["event-type", "partner-api-reason", "partner-api-source"].map(
      (name) =>
        [...(bad.header as Iterable<[string, string[]]>)].find(
          ([one]) => one.toLowerCase() === name,
        )?.[1][0],
    ),
    ["order.created", "the message is not JSON", "orders/3"],
  );
  const large = await manager.streams.getMessage("aside", { seq: 2 });
  assert.equal(large?.data.length, 1024 * 1024);
});

test("a cluster that has no leader yet is waited for, by a check and by a bridge, without an error", async (t) => {
  if (!hasNats(t)) return;
  const afterwards = new Afterwards();
  t.after(() => afterwards.run());
  const { servers, first, second, manager, stream } = await aNatsPair(afterwards);
  await insist(() =>
    manager.streams.add({ name: "orders", subjects: ["orders"], num_replicas: 2 }),
  );
  await insist(() => manager.streams.add({ name: "aside", subjects: ["aside"] }));
  await insist(() => stream.publish("orders", '{"n":1}'));
  let late: Promise<unknown> = Promise.resolve();
  const begin = async () => {
    await late;
    await Promise.all([first.end(), second.end()]);
    await first.begin();
    late = sleep(3_000).then(second.begin);
  };
  afterwards.after(() => late);
  await checkStarting(t, {
    ...{ kind: "nats", servers, stream: "orders", set_aside: { subject: "aside" }, begin },
    event: { organization: "acme", type: "order.created", data: { pointer: "" } },
  });
});

test("what is held is not delivered again, however long the service is away, and a stop gives it back at once", async (t) => {
  if (!hasNats(t)) return;
  const { manager, stream, rigFor } = await aStream(t);
  await manager.consumers.add("orders", {
    ...{ durable_name: "partner-api-bridge", ack_policy: "explicit" },
    ...{ ack_wait: 2_000_000_000, max_ack_pending: 2_000 },
  });
  for (let n = 0; n < 700; n++) await stream.publish("orders.1", `{"tenant":"acme","n":${n}}`);
  let isAway = true;
  const service = await aFakeService(t, () => (isAway ? { status: 503 } : { status: 202 }));
  const rig = rigFor(service.url, { type: "order.created" });
  const bridge = await aBridge(t, rig);
  await service.until((asked) => asked.length > 20);
  await sleep(3_000);
  assert.equal((await manager.consumers.info("orders", "partner-api-bridge")).num_redelivered, 0);
  await bridge.stop();
  isAway = false;
  const startMs = performance.now();
  await manager.consumers.update("orders", "partner-api-bridge", { ack_wait: 60_000_000_000 });
  const next = await aBridge(t, rig);
  while (!(await next.get("/metrics")).text.includes('lag_messages{source="orders"} 0\n'));
  assert.ok(performance.now() - startMs < 10_000);
  const published = service.asked
    .slice(-10)
    .flatMap(({ events }) => events)
    .map(({ data }) => (data as { n: number }).n);
  assert.equal(new Set(published).size, 700);
});

test("a consumer that was deleted is not made again by a bridge that has read from it", async (t) => {
  if (!hasNats(t)) return;
  const { manager, stream, rigFor } = await aStream(t);
  const service = await aFakeService(t, () => ({ status: 202 }));
  const rig = rigFor(service.url, { type: "order.created" });
  const publish = (n: number) => stream.publish("orders.1", `{"tenant":"acme","n":${n}}`);
  await publish(1);
  const bridge = await aBridge(t, rig);
  await service.until((asked) => asked.length === 1);
  await manager.consumers.delete("orders", "partner-api-bridge");
  await publish(2);
  await bridge.logged(({ why }) =>
    String(why).startsWith("the consumer partner-api-bridge was deleted"),
  );
  await manager.consumers.add("orders", {
    ...{ durable_name: "partner-api-bridge", ack_policy: "explicit" },
    ...{ deliver_policy: "by_start_sequence", opt_start_seq: 2 },
  });
  await service.until((asked) => asked.length === 2);
  assert.equal(service.asked[1]?.events[0]?.["dedupe_key"], "orders:orders/2");
});

test("a request that fails leaves nothing behind", async (t) => {
  if (!hasNats(t)) return;
  const { manager, rigFor } = await aStream(t);
  const source = openSource(t, rigFor(""));
  const waiting = () => getEventListeners(t.signal, "abort").length;
  const before = waiting();
  await source.receive(1, 10);
  await manager.consumers.delete("orders", "partner-api-bridge");
  await assert.rejects(source.receive(1, 10_000), { message: /consumer deleted/ });
  assert.equal(waiting(), before);
});

test("a consumer that would lose messages is refused, with every reason", async (t) => {
  if (!hasNats(t)) return;
  const { manager, rigFor } = await aStream(t);
  await manager.consumers.add("orders", {
    ...{ durable_name: "bad", ack_policy: "all", max_deliver: 5, filter_subject: "orders.1" },
    inactive_threshold: 3_600_000_000_000,
  });
  const reason = async (further: object) =>
    /^FAILS orders: (.*)$/m.exec(await checked(rigFor("http://127.0.0.1:1", {}, further)))?.[1];
  assert.equal(
    await reason({ consumer: "bad", subjects: ["orders.2"] }),
    "the consumer bad: ack_policy must be explicit; max_deliver is 5, after which the server gives a message up; " +
      "it has an inactive_threshold, after which the server deletes it; " +
      "its filter is orders.1, and not orders.2",
  );
  assert.equal(await reason({ stream: "none" }), "there is no stream none");
  assert.equal(
    await reason({ set_aside: { subject: "nowhere" } }),
    "no stream keeps the subject nowhere",
  );
  assert.equal(
    await reason({ set_aside: { subject: "orders.aside" } }),
    "the stream orders itself keeps orders.aside: it must be another one",
  );
});

/** The streams of the page, on a server of their own. */
async function aStream(t: TestContext) {
  const afterwards = new Afterwards();
  t.after(() => afterwards.run());
  const { servers, manager, stream } = await startNats(afterwards);
  await manager.streams.add({ name: "orders", subjects: ["orders.*"] });
  await manager.streams.add({ name: "aside", subjects: ["aside.orders"] });
  const { sample } = await samplesOf("bridge.md");
  const [source] = (parse(sample("yaml nats")) as { sources: [{ event: object }] }).sources;
  const rigFor = (url: string, event = {}, further = {}) => {
    const sources = [{ ...source, ...further, event: { ...source.event, ...event } }];
    return { url, sources, env: { NATS_SERVERS: servers } };
  };
  return { manager, stream, rigFor };
}

function keyOf(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("base64url")}`;
}

const STREAMS = {
  event: { organization: "acme", type: "order.created", data: { pointer: "" } },
  set_aside: { subject: "aside" },
};

test("over TLS with a user of its own, messages are published, and each fault of a connection is named", async (t) => {
  if (!hasNats(t)) return;
  const files = await tlsFiles(t);
  const PASSWORD = "secret-of-the-bridge";
  const { stream, manager, servers } = await startNats(t, overTls(files, PASSWORD));
  await manager.streams.add({ name: "orders", subjects: ["orders.*"] });
  await manager.streams.add({ name: "aside", subjects: ["aside"] });
  await stream.publish("orders.a", '{"n":1}');
  const auth = { username: "bridge", password: PASSWORD };
  await checkConnections(t, {
    source: {
      ...{ name: "orders", kind: "nats", servers, stream: "orders", auth },
      ...{ ...STREAMS, tls: { ca: files.authority } },
    },
    secrets: [PASSWORD, "wrong-password"],
    faults: [
      [{ auth: { ...auth, password: "wrong-password" } }, /authorization/i],
      [{ auth: undefined }, /authorization/i],
      [{ tls: {} }, /certificate/],
      [{ tls: { ca: files.stranger } }, /certificate/],
    ],
  });
});

test("a token, or a file of credentials with a key, signs the bridge in, and another is refused", async (t) => {
  if (!hasNats(t)) return;
  const TOKEN = "token-of-the-bridge";
  const { access, creds, stranger } = await byCredentials(t);
  const ways = [
    [
      { options: ["--auth", TOKEN], client: { token: TOKEN } },
      { token: TOKEN },
      { token: "wrong-token" },
    ],
    [access, { creds }, { creds: stranger }],
  ] as const;
  for (const [server, auth, wrong] of ways) {
    const { stream, manager, servers } = await startNats(t, server);
    await manager.streams.add({ name: "orders", subjects: ["orders.*"] });
    await manager.streams.add({ name: "aside", subjects: ["aside"] });
    await stream.publish("orders.a", '{"n":1}');
    await checkConnections(t, {
      source: { ...{ name: "orders", kind: "nats", servers, stream: "orders", auth }, ...STREAMS },
      secrets: Object.values({ ...auth, ...wrong }),
      faults: [
        [{ auth: wrong }, /authorization/i],
        [{ auth: undefined }, /authorization|signature/i],
        [{ tls: {}, servers: servers.replace("127.0.0.1", "localhost") }, /support 'tls'/],
      ],
    });
  }
});

test("a JetStream of another domain is reached through a leaf node", async (t) => {
  if (!hasNats(t)) return;
  const afterwards = new Afterwards();
  t.after(() => afterwards.run());
  const { servers, hub } = await aNatsLeaf(afterwards, "hub");
  await hub.manager.streams.add({ name: "orders", subjects: ["orders.*"] });
  await hub.manager.streams.add({ name: "aside", subjects: ["aside"] });
  await hub.stream.publish("orders.a", '{"n":1}');
  await hub.stream.publish("orders.a", "no JSON");
  const service = await aFakeService(t, () => ({ status: 202 }));
  const source = { ...{ name: "orders", kind: "nats", servers, stream: "orders" }, ...STREAMS };
  const rig = { url: service.url, sources: [{ ...source, domain: "hub" }] };
  assert.match(await checked(rig), /stream orders of 2 messages/);
  assert.match(await checked({ ...rig, sources: [source] }), /FAILS orders: .*JetStream/i);
  const bridge = await aBridge(t, rig);
  await service.until((asked) => asked.length > 0);
  await bridge.logged(({ msg }) => msg === "set aside");
  assert.equal((await hub.manager.streams.info("aside")).state.messages, 1);
});
