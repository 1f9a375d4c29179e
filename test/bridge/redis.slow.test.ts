// Depends on: src, docs, package.json

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "yaml";
import { Afterwards } from "../ledger/afterwards.ts";
import { aBridge, aFakeService, checked, type TestedBridge } from "../support/bridge.ts";
import { samplesOf } from "../support/page-samples.ts";
import { ROOT } from "../support/root.ts";
import { requireProgram } from "../support/required.ts";
import { aShell } from "../support/shell.ts";
import { checkConnections, tlsFiles } from "./connections.ts";
import { assertBalanced, runLedger } from "./ledger.ts";
import { SHORT } from "./plans.ts";
import { aRedisBroker, moveSlot, startRedis, startRedisCluster } from "./redis-broker.ts";
import { checkStarting } from "./starting.ts";

const hasRedis = (t: TestContext) => requireProgram(t, "redis-server", ["--version"]);

test("each entry is one event while bridges, service, database and server are killed", async (t) => {
  if (!(await hasRedis(t))) return;
  const plan = { ...SHORT, seed: Math.floor(Math.random() * 2 ** 31) };
  const ledger = await runLedger(aRedisBroker, plan);
  t.diagnostic(JSON.stringify({ seed: plan.seed, ...ledger }));
  assertBalanced(ledger);
});

test("the page's source publishes and acknowledges, and what is bad goes to its stream with the reason", async (t) => {
  if (!(await hasRedis(t))) return;
  const { url, client, rigFor, samples } = await aStream(t);
  const shell = await aShell(t, { REDIS_URL: url });
  await shell.runText(samples.sample("bash xadd"));
  const add = (...fields: string[]) => client.sendCommand(["XADD", "orders", "*", ...fields]);
  await add(
    "organization",
    "acme",
    "type",
    "order.created",
    "data",
    '{"n":1.10}',
    "dedupe_key",
    "k",
  );
  await add("organization", "acme", "type", "order.created", "data", "\xff");
  const service = await aFakeService(t, ({ events }) => {
    const faults = events.flatMap(({ data }, i) =>
      typeof data === "string" ? [{ pointer: `/events/${i}/data`, detail: "must be object" }] : [],
    );
    return faults.length > 0 ? { status: 422, body: { errors: faults } } : { status: 202 };
  });
  const told = await checked(rigFor(service.url));
  assert.match(
    told,
    /^ok +orders: stream orders of 3 entries, the group partner-api-bridge is created at the start$/m,
  );
  assert.match(
    told,
    /the first message becomes {"organization":"acme","type":"order.created","data":{"order_id":/,
  );
  assert.doesNotMatch(told, /append-only/);

  const bridge = await aBridge(t, rigFor(service.url));
  await bridge.logged((line) => line["msg"] === "set aside");
  await settled(bridge);
  const [aside] = await client.sendCommand<Entry[]>(["XRANGE", "orders.aside", "-", "+"]);
  assert.deepEqual(aside?.[1].slice(4, 8), [
    "data",
    "\xff",
    "partner-api-reason",
    "data must be object",
  ]);
  const published = service.asked.at(-1)?.events ?? [];
  assert.match(String(published[0]?.["dedupe_key"]), /^orders:orders\/\d+-0$/);
  assert.equal(published[1]?.["dedupe_key"], "k");
  assert.equal(await client.sendCommand(["XLEN", "orders"]), 3);
});

test("what another consumer has left is claimed, and what the bridge holds is not", async (t) => {
  if (!(await hasRedis(t))) return;
  const { client, rigFor } = await aStream(t);
  await client.sendCommand(["XGROUP", "CREATE", "orders", "partner-api-bridge", "0", "MKSTREAM"]);
  await fill(client, 1, 300);
  const take = ["XREADGROUP", "GROUP", "partner-api-bridge", "dead", "COUNT", "100"];
  await client.sendCommand([...take, "STREAMS", "orders", ">"]);
  let isAway = true;
  const service = await aFakeService(t, () => (isAway ? { status: 503 } : { status: 202 }));
  const rig = rigFor(service.url, { claim_after: "1s", when_published: "delete" });
  const first = await aBridge(t, rig);
  // Else the second bridge may claim what the dead consumer left.
  const holdsAll = ([count, , , holders]: Awaited<ReturnType<typeof pendingIn>>) =>
    count === 300 && holders.length === 1;
  while (!holdsAll(await pendingIn(client))) await sleep(50);
  const second = await aBridge(t, rig);
  await sleep(3_000);
  const [count, , , consumers] = await pendingIn(client);
  assert.deepEqual([count, consumers.length], [300, 1], "one consumer holds all");
  isAway = false;
  await settled(first);
  await second.stop();
  assert.equal(numbersIn(service.asked).size, 300);
  assert.equal(await client.sendCommand(["XLEN", "orders"]), 0);
});

test("what cannot be set aside is not acknowledged, and what was deleted before it was read is named", async (t) => {
  if (!(await hasRedis(t))) return;
  const { client, rigFor } = await aStream(t);
  const service = await aFakeService(t, () => ({ status: 202 }));
  const rig = rigFor(service.url);
  await client.sendCommand(["SET", "orders.aside", "no stream"]);
  await client.sendCommand(["XADD", "orders", "*", "type", "order.created"]);
  const first = await aBridge(t, rig);
  const { why } = await first.logged((line) => line["level"] === "error");
  assert.match(String(why), /^WRONGTYPE/);
  await first.stop();
  const [count] = await pendingIn(client);
  assert.equal(count, 1);

  await client.sendCommand(["DEL", "orders.aside"]);
  await fill(client, 1, 50);
  await client.sendCommand(["XTRIM", "orders", "MAXLEN", "20"]);
  const second = await aBridge(t, {
    ...rig,
    sources: rigFor(service.url, { claim_after: "1s" }).sources,
  });
  const noted = await second.logged((line) => "removed" in line);
  assert.equal(noted["msg"], "entries were deleted before they were read");
  await service.until((asked) => numbersIn(asked).size === 20);
});

test("an entry that was deleted while a dead consumer held it is named, and stops no other", async (t) => {
  if (!(await hasRedis(t))) return;
  const { client, rigFor } = await aStream(t);
  await client.sendCommand(["XGROUP", "CREATE", "orders", "partner-api-bridge", "0", "MKSTREAM"]);
  await fill(client, 1, 700);
  const take = ["XREADGROUP", "GROUP", "partner-api-bridge", "dead", "COUNT", "700"];
  const [[, entries] = ["", []]] = await client.sendCommand<[string, Entry[]][]>([
    ...[...take, "STREAMS", "orders", ">"],
  ]);
  const deleted = entries.slice(0, 600).map(([id]) => id);
  await client.sendCommand(["XDEL", "orders", ...deleted]);
  const service = await aFakeService(t, () => ({ status: 202 }));
  const bridge = await aBridge(t, rigFor(service.url, { claim_after: "1s" }));
  await service.until((asked) => numbersIn(asked).size === 100);
  const named = () =>
    bridge.log.flatMap(({ msg, entries: some }) =>
      msg === "deleted before they were published" ? (some as string[]) : [],
    );
  while (named().length < 600) await sleep(20);
  assert.deepEqual(named().toSorted(), deleted.toSorted());
  while ((await pendingIn(client))[0] > 0) await sleep(20);
});

test("an entry that comes again, because the server ended before it was set aside, counts once", async (t) => {
  if (!(await hasRedis(t))) return;
  const { client, kill, rigFor } = await aStream(t);
  const service = await aFakeService(t, () => ({ status: 202 }));
  await client.sendCommand(["SET", "orders.aside", "no stream"]);
  await client.sendCommand(["XADD", "orders", "*", "type", "order.created"]);
  const bridge = await aBridge(t, rigFor(service.url));
  await bridge.logged(({ why }) => String(why).startsWith("WRONGTYPE"));
  await kill();
  await client.sendCommand(["DEL", "orders.aside"]);
  await bridge.logged(({ msg }) => msg === "set aside");
  await settled(bridge);
  assert.equal(await client.sendCommand(["XLEN", "orders.aside"]), 1);
  assert.match((await bridge.get("/metrics")).text, /set_aside_total{source="orders"} 1\n/);
});

test("after the server's end the bridge reads again what it held", async (t) => {
  if (!(await hasRedis(t))) return;
  const { client, kill, rigFor } = await aStream(t);
  await fill(client, 1, 700);
  let isAway = true;
  const service = await aFakeService(t, () => (isAway ? { status: 503 } : { status: 202 }));
  const bridge = await aBridge(t, rigFor(service.url));
  await service.until((asked) => asked.length > 20);
  await kill();
  await bridge.logged((line) => line["msg"] === "the source fails: tried again");
  isAway = false;
  await service.until((asked) => numbersIn(asked).size === 700);
  await settled(bridge);
});

test("a server that has become a replica is left also while all that the bridge can hold waits for it", async (t) => {
  if (!(await hasRedis(t))) return;
  const { client, rigFor } = await aStream(t);
  const service = await aFakeService(t, async ({ events }) => {
    const isFirst = events.some(({ data }) => (data as { n: number }).n === 1);
    if (isFirst && !isReplica) await demote();
    return { status: 202 };
  });
  let isReplica = false;
  const demote = async () => {
    isReplica = true;
    await client.sendCommand(["REPLICAOF", "127.0.0.1", "1"]);
  };
  await fill(client, 1, 2_500);
  const bridge = await aBridge(t, rigFor(service.url));
  const connections = async () => {
    const list = await client.sendCommand<string>(["CLIENT", "LIST"]);
    return [...list.matchAll(/^id=(\d+) .* name=partner-api-bridge /gm)].map(([, id]) => id);
  };
  await bridge.logged(({ why }) => String(why).startsWith("READONLY"));
  const before = await connections();
  while ((await connections()).some((id) => before.includes(id))) await sleep(50);
  await client.sendCommand(["REPLICAOF", "NO", "ONE"]);
  await settled(bridge);
  assert.equal(numbersIn(service.asked).size, 2_500);
});

test("a server that is loading is waited for, by a check and by a bridge, without an error", async (t) => {
  if (!(await hasRedis(t))) return;
  const afterwards = new Afterwards();
  t.after(() => afterwards.run());
  const slow = ["--key-load-delay", "2000"]; // Microseconds for each command of the file.
  const { url, client, kill } = await startRedis(afterwards, undefined, slow);
  await fill(client, 1, 5_000);
  const source = { kind: "redis", url, streams: "orders", set_aside: { stream: "aside" } };
  await checkStarting(t, { ...source, begin: kill });
});

test("in a cluster, the bridge goes to the node that keeps the streams, also when they move", async (t) => {
  if (!(await hasRedis(t))) return;
  const afterwards = new Afterwards();
  t.after(() => afterwards.run());
  const [keeper, other] = await startRedisCluster(afterwards, "{orders}");
  const add = (client: Client, n: number) =>
    client.sendCommand(["XADD", "{orders}", "*", "type", "order.created", "data", `{"n":${n}}`]);
  await add(keeper.client, 1);
  const service = await aFakeService(t, () => ({ status: 202 }));
  const source = {
    ...{ name: "orders", kind: "redis", url: other.url, streams: "{orders}" },
    ...{ event: { organization: "acme" }, set_aside: { stream: "{orders}.aside" } },
  };
  const apart = { ...source, set_aside: { stream: "aside" } };
  const told = await checked({ url: service.url, sources: [apart] });
  assert.match(told, /FAILS orders: the cluster keeps {orders} and aside on different nodes: give/);

  const bridge = await aBridge(t, { url: service.url, sources: [source] });
  await service.until((asked) => numbersIn(asked).has(1));
  await moveSlot(keeper, other, ["{orders}"]);
  await add(other.client, 2);
  await service.until((asked) => numbersIn(asked).has(2));
  await settled(bridge);
});

type Client = Awaited<ReturnType<typeof startRedis>>["client"];
type Entry = [id: string, fields: string[]];

/** The source of the page, on a server of its own. */
async function aStream(t: TestContext) {
  const afterwards = new Afterwards();
  t.after(() => afterwards.run());
  const server = await startRedis(afterwards);
  const samples = await samplesOf("bridge.md");
  const [source] = (parse(samples.sample("yaml redis")) as { sources: [object] }).sources;
  const rigFor = (url: string, further = {}) => ({
    ...{ url, sources: [{ ...source, ...further }], env: { REDIS_URL: server.url } },
  });
  return { ...server, rigFor, samples };
}

async function fill(client: Client, first: number, last: number): Promise<void> {
  for (let n = first; n <= last; n++) {
    const fields = ["organization", "acme", "type", "order.created", "data", JSON.stringify({ n })];
    await client.sendCommand(["XADD", "orders", "*", ...fields]);
  }
}

type Pending = [count: number, first: string, last: string, consumers: [string, string][]];

function pendingIn(client: Client): Promise<Pending> {
  return client.sendCommand<Pending>(["XPENDING", "orders", "partner-api-bridge"]);
}

async function settled({ get }: TestedBridge): Promise<void> {
  while (!(await get("/metrics")).text.includes('lag_messages{source="orders"} 0\n'));
}

function numbersIn(asked: readonly { events: Record<string, unknown>[] }[]): Set<number> {
  const events = asked.flatMap((one) => one.events);
  return new Set(events.map(({ data }) => (data as { n: number }).n));
}

test("over TLS with a user of its own, entries are published, and each fault of a connection is named", async (t) => {
  if (!(await hasRedis(t))) return;
  const files = await tlsFiles(t);
  const { client, securePort } = await startRedis(t, files);
  const rights = ["~orders", "~aside", "-@all", ...RIGHTS];
  await client.sendCommand(["ACL", "SETUSER", "bridge", "on", ">secret-of-the-bridge", ...rights]);
  const fields = ["organization", "acme", "type", "order.created", "data", '{"n":1}'];
  await client.sendCommand(["XADD", "orders", "*", ...fields]);
  const urlOf = (user: string, host = "localhost", scheme = "rediss") =>
    `${scheme}://${user}@${host}:${securePort}`;
  await checkConnections(t, {
    source: {
      ...{ name: "orders", kind: "redis", url: urlOf("bridge:secret-of-the-bridge") },
      ...{ streams: "orders", set_aside: { stream: "aside" }, tls: { ca: files.authority } },
    },
    secrets: ["secret-of-the-bridge", "wrong-password"],
    faults: [
      [{ url: urlOf("bridge:wrong-password") }, /WRONGPASS/],
      [{ tls: {} }, /certificate/],
      [{ tls: { ca: files.stranger } }, /certificate/],
      [{ url: urlOf("bridge:secret-of-the-bridge", "127.0.0.1") }, /altnames|IP/],
      [{ streams: "others" }, /NOPERM/],
    ],
  });
});

/** The page's list of rights. */
const RIGHTS = (
  /`(\+xreadgroup [^`]+)`/.exec(await readFile(join(ROOT, "docs/bridge.md"), "utf8"))?.[1] ?? ""
).split(/\s+/);
