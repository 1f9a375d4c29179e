// Depends on: src, docs, package.json

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createServer as createHttpServer } from "node:http";
import { connect, createServer, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "yaml";
import { Afterwards } from "../ledger/afterwards.ts";
import { aBridge, aFakeService, checked, type TestedBridge } from "../support/bridge.ts";
import { openPort } from "../support/free-port.ts";
import { samplesOf } from "../support/page-samples.ts";
import { endTogether } from "./broker-server.ts";
import { assertBalanced, runLedger } from "./ledger.ts";
import { SHORT } from "./plans.ts";
import { anSqsBroker, hasSqs, startSqs } from "./sqs-broker.ts";

test("each message is one event while bridges, service, database and server are killed", async (t) => {
  if (!hasSqs(t)) return;
  const plan = { ...SHORT, seed: Math.floor(Math.random() * 2 ** 31) };
  const ledger = await runLedger(anSqsBroker, plan);
  t.diagnostic(JSON.stringify({ seed: plan.seed, ...ledger }));
  assertBalanced(ledger);
});

test("the page's source publishes and deletes, and what is bad goes to its queue with the reason", async (t) => {
  if (!hasSqs(t)) return;
  const { client, urlOf, rigFor } = await aQueue(t);
  const text = (StringValue: string) => ({ DataType: "String", StringValue });
  const send = (MessageBody: string, attributes: Record<string, string> = {}) =>
    client.sendMessage({
      ...{ QueueUrl: urlOf("orders"), MessageBody },
      MessageAttributes: Object.fromEntries(
        Object.entries(attributes).map(([name, value]) => [name, text(value)]),
      ),
    });
  const { MessageId: id } = await send('{"tenant":"acme","n":1.10}', {
    "event-type": "order.created",
  });
  const service = await aFakeService(t, () => ({ status: 202 }));
  const told = await checked(rigFor(service.url));
  assert.match(told, /^ok +orders: queue orders, 1 messages wait$/m);
  assert.match(
    told,
    /the first message becomes {"organization":"acme",.*"data":{"tenant":"acme","n":1.10}/,
  );
  await send("no JSON", { "event-type": "order.created" });
  const ten = Array.from({ length: 10 }, (_, i) => [`a${i}`, "x"]);
  await send("with ten attributes", Object.fromEntries(ten) as Record<string, string>);

  const bridge = await aBridge(t, rigFor(service.url));
  await service.until((asked) => asked.length > 0);
  assert.equal(service.asked[0]?.events[0]?.["dedupe_key"], `orders:orders/${id}`);
  await settled(bridge);
  const asked = {
    QueueUrl: urlOf("aside"),
    MaxNumberOfMessages: 10,
    MessageAttributeNames: ["All"],
  };
  const { Messages: aside = [] } = await client.receiveMessage(asked);
  const bad = aside.find(({ Body }) => Body === "no JSON");
  const full = aside.find(({ Body }) => Body !== "no JSON");
  const valueOf = (name: string) => bad?.MessageAttributes?.[name]?.StringValue;
  assert.equal(valueOf("partner-api-reason"), "the message is not JSON");
  assert.equal(valueOf("event-type"), "order.created");
  assert.equal(Object.keys(full?.MessageAttributes ?? {}).length, 10);
});

test("what is held is not received again, however long the service is away, and a stop makes it visible at once", async (t) => {
  if (!hasSqs(t)) return;
  const { client, urlOf, rigFor } = await aQueue(t);
  await fill(client, urlOf("orders"), 60);
  let isAway = true;
  const service = await aFakeService(t, () => (isAway ? { status: 503 } : { status: 202 }));
  const rig = rigFor(service.url, { visibility_timeout: "3s" });
  const bridge = await aBridge(t, rig);
  await bridge.logged((line) => line["msg"] === "not published: tried again");
  while (!(await bridge.get("/metrics")).text.includes('held_messages{source="orders"} 60\n'));
  await sleep(5_000);
  assert.equal(
    (await bridge.get("/metrics")).text.includes('held_messages{source="orders"} 60\n'),
    true,
  );
  const asked = { QueueUrl: urlOf("orders"), MaxNumberOfMessages: 10 };
  assert.deepEqual((await client.receiveMessage(asked)).Messages ?? [], []);
  await bridge.stop();
  isAway = false;
  const next = await aBridge(t, rig);
  await settled(next);
  const events = service.asked.slice(-20).flatMap((one) => one.events);
  assert.equal(new Set(events.map((event) => event["dedupe_key"])).size, 60);
});

test("a group of a FIFO queue keeps its order, also if its requests fail", async (t) => {
  if (!hasSqs(t)) return;
  const { client, urlOf, rigFor } = await aQueue(t);
  const QueueUrl = urlOf("orders.fifo");
  for (let n = 0; n < 60; n++) {
    const message = { QueueUrl, MessageBody: JSON.stringify({ tenant: "acme", n }) };
    const ids = { MessageGroupId: `k${n % 3}`, MessageDeduplicationId: String(n) };
    await client.sendMessage({ ...message, ...ids });
  }
  let turn = 0;
  const published: number[] = [];
  const service = await aFakeService(t, ({ events }) => {
    if (turn++ % 3 === 1) return { status: 503 };
    published.push(...events.map(({ data }) => (data as { n: number }).n));
    return { status: 202 };
  });
  const queues = { queue: QueueUrl, set_aside: { queue: urlOf("aside.fifo") } };
  const event = { organization: "acme", type: "order.created", data: { pointer: "" } };
  await aBridge(t, rigFor(service.url, { ...queues, event }));
  await service.until(() => published.length >= 60);
  for (const key of [0, 1, 2]) {
    const ofKey = published.filter((n) => n % 3 === key);
    assert.deepEqual(
      ofKey,
      ofKey.toSorted((a, b) => a - b),
    );
  }
});

test("what is held stays held while the server cannot be reached, and is not received once more", async (t) => {
  if (!hasSqs(t)) return;
  const { client, urlOf, rigFor, env } = await aQueue(t);
  await fill(client, urlOf("orders"), 20);
  let isAway = true;
  const service = await aFakeService(t, () => (isAway ? { status: 503 } : { status: 202 }));
  const { state, port } = await aProxy(t, Number(new URL(env.AWS_ENDPOINT).port));
  const event = { organization: "acme", type: { header: "ApproximateReceiveCount" } };
  const bridge = await aBridge(
    t,
    rigFor(service.url, {
      ...{ endpoint: `http://127.0.0.1:${port}` },
      event: { ...event, data: { pointer: "" } },
    }),
  );
  while (!(await bridge.get("/metrics")).text.includes('held_messages{source="orders"} 20\n'))
    await sleep(20);
  state.isOpen = false;
  for (const socket of state.sockets) socket.destroy();
  await sleep(3_000);
  state.isOpen = true;
  service.asked.length = 0;
  isAway = false;
  await settled(bridge);
  const types = service.asked.flatMap(({ events }) => events.map(({ type }) => type));
  assert.deepEqual(new Set(types), new Set(["1"]));
});

/** Stands before a server, and can be closed. */
async function aProxy(t: TestContext, port: number) {
  const state = { isOpen: true, sockets: [] as Socket[] };
  const server = createServer((socket) => {
    if (!state.isOpen) {
      socket.destroy();
      return;
    }
    const behind = connect(port, "127.0.0.1");
    state.sockets.push(socket);
    socket.pipe(behind).pipe(socket);
    endTogether(t, socket, behind);
  });
  return { state, port: await openPort(t, server) };
}

test("what one of several requests receives is kept, although another one fails", async (t) => {
  let [next, requests] = [0, 0];
  const receive = () =>
    ++requests === 3
      ? { status: 403, body: { __type: "AccessDenied" } }
      : { status: 200, body: { Messages: next < 60 ? Array.from({ length: 10 }, aMessage) : [] } };
  const aMessage = () => {
    const [id, Body] = [String(next++), "{}"];
    const MD5OfBody = createHash("md5").update(Body).digest("hex");
    return { MessageId: id, ReceiptHandle: id, Body, MD5OfBody };
  };
  const server = createHttpServer((request, response) => {
    const isReceipt = request.headers["x-amz-target"] === "AmazonSQS.ReceiveMessage";
    const { status, body } = isReceipt ? receive() : { status: 200, body: {} };
    const answer = () => response.writeHead(status).end(JSON.stringify(body));
    // Long polls must not spin, and what fails must be first.
    setTimeout(answer, isReceipt && status === 200 ? 100 : 0);
  });
  const endpoint = `http://127.0.0.1:${await openPort(t, server)}`;
  const service = await aFakeService(t, () => ({ status: 202 }));
  const source = {
    ...{ name: "orders", kind: "sqs", endpoint, region: "eu-central-1" },
    ...{ queue: `${endpoint}/0/orders`, set_aside: { queue: `${endpoint}/0/aside` } },
    credentials: { access_key_id: "test", secret_access_key: "test" },
    event: { organization: "acme", type: "order.created", data: { pointer: "" } },
  };
  await aBridge(t, { url: service.url, sources: [source] });
  await service.until((asked) => keysOf(asked).size === 60);
});

function keysOf(asked: readonly { events: Record<string, unknown>[] }[]): Set<unknown> {
  return new Set(asked.flatMap(({ events }) => events.map((event) => event["dedupe_key"])));
}

test("a server that is silent is given up, and not waited for without end", async (t) => {
  const server = createServer((socket) => t.after(() => socket.destroy()));
  const endpoint = `http://127.0.0.1:${await openPort(t, server)}`;
  const source = {
    ...{ name: "orders", kind: "sqs", endpoint, region: "eu-central-1" },
    ...{ queue: `${endpoint}/0/orders`, set_aside: { queue: `${endpoint}/0/aside` } },
    credentials: { access_key_id: "test", secret_access_key: "test" },
  };
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const state = { said: "" };
  void checked({ url: "http://127.0.0.1:1", sources: [source] }).then(
    (said) => (state.said = said),
  );
  for (let seconds = 0; state.said === "" && seconds < 300; seconds++) {
    await tick();
    t.mock.timers.tick(1_000);
  }
  assert.match(state.said, /^FAILS orders: not reached: .*30000 ms/m);
});

/** Lets sockets speak, while the clock stands. */
async function tick(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise(setImmediate);
}

type Client = Awaited<ReturnType<typeof startSqs>>["client"];

/** The source of the page, on a server of its own. */
async function aQueue(t: TestContext) {
  const afterwards = new Afterwards();
  t.after(() => afterwards.run());
  const { client, urlOf, env } = await startSqs(afterwards);
  const { sample } = await samplesOf("bridge.md");
  const [source] = (parse(sample("yaml sqs")) as { sources: [object] }).sources;
  const local = {
    ...{ queue: urlOf("orders"), set_aside: { queue: urlOf("aside") } },
    ...{ endpoint: { env: "AWS_ENDPOINT" }, credentials: CREDENTIALS },
  };
  const rigFor = (url: string, further = {}) => ({
    ...{ url, sources: [{ ...source, ...local, ...further }], env },
  });
  return { client, urlOf, rigFor, env };
}

const CREDENTIALS = { access_key_id: { env: "AWS_KEY" }, secret_access_key: { env: "AWS_SECRET" } };

async function fill(client: Client, QueueUrl: string, last: number): Promise<void> {
  const MessageAttributes = { "event-type": { DataType: "String", StringValue: "order.created" } };
  for (let n = 1; n <= last; n++) {
    const MessageBody = JSON.stringify({ tenant: "acme", n });
    await client.sendMessage({ QueueUrl, MessageBody, MessageAttributes });
  }
}

async function settled({ get }: TestedBridge): Promise<void> {
  while (!(await get("/metrics")).text.includes('lag_messages{source="orders"} 0\n'));
}
