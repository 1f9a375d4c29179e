import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Kafka, logLevel } from "kafkajs";
import { publicId } from "../src/lib/ids.ts";
import { hasKafka, startKafka } from "../test/bridge/kafka-broker.ts";
import { insist } from "../test/bridge/outbox-ledger.ts";
import { OUTBOX } from "../test/support/bridge.ts";
import type { Load } from "./processes/load.ts";
import type { Child } from "./support/child.ts";
import { Meter } from "./support/cost.ts";
import { requireAnswered } from "./support/http.ts";
import { arrivalOf, type Offer, timelineOfRequests } from "./support/latency.ts";
import { memoryOf } from "./support/memory.ts";
import { monotonicMs } from "./support/monotonic.ts";
import type { Subscription } from "./support/partners.ts";
import {
  keyedBatches,
  ORDER,
  PUBLISHER,
  publishRequests,
  subscribeToOrders,
  TOKEN,
} from "./support/publisher.ts";
import { inMs, inThousands } from "./support/report.ts";
import type { Rig, Stage } from "./support/rig.ts";
import { atLeast, atMost, type Row } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";
import type { Service } from "./support/service.ts";
import { median, middleOf, percentile } from "./support/statistics.ts";

const BACKLOG = 1_000_000;
const KEYS = 1_000;
const PARTITIONS = 4;
const CHUNK = 5_000;
const ROUNDS = 7;
/** Of one client's turn. With fewer, a fast service would get the same keys again. */
const BATCHES = 600;
const PER_SECOND = 200;
/** After its pause, a bridge connects to the service anew. */
const WARM_UP_MS = 1_000;

/** A service, and what publishes into it in turns. */
interface SetUp {
  stage: Stage;
  service: Service;
  bridge: Awaited<ReturnType<Rig["bridge"]>>;
}

/** The bridge from a backlog against a client of `POST /events` with ready batches. Nobody subscribes to the events. */
export const bridge: Scenario = {
  name: "bridge",
  isLong: true,
  run: async (rig) => {
    const stage = await rig.stage(rig.receivers.urls(100));
    const service = await rig.service(stage, { ...PUBLISHER, ROLE: "api" });
    const rowsOf = async (name: string, source: object) => {
      const bridge = await rig.bridge(service, TOKEN, source);
      const rows = await inTurns(rig, { stage, service, bridge }, name);
      await bridge.stop();
      return rows;
    };
    const count = rig.size(BACKLOG, 20_000);
    const rows = await rowsOf("an outbox", await filledOutbox(stage, count));
    if (hasKafka()) rows.push(...(await rowsOf("Kafka", await filledKafka(rig, stage, count))));
    await service.stop();
    return [...rows, ...(await untilReceived(rig))];
  },
};

async function filledOutbox({ db, url, subscriptions }: Stage, count: number): Promise<object> {
  await db.unsafe(OUTBOX);
  const organizations = subscriptions.map(organizationOf);
  await db`
    insert into outbox (organization, type, key, data)
    select (${organizations}::text[])[1 + n % ${organizations.length}::integer], ${ORDER.type},
           'k' || n % ${KEYS}::integer, ${JSON.stringify(ORDER.data)}::json
      from generate_series(1, ${count}::integer) as n`;
  await db`vacuum (analyze) outbox`;
  return { kind: "outbox", url };
}

async function filledKafka(rig: Rig, { subscriptions }: Stage, count: number): Promise<object> {
  const { brokers } = await startKafka(rig);
  const kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING });
  const [admin, producer] = [kafka.admin(), kafka.producer()];
  await insist(() => admin.connect());
  const [topic, aside] = ["orders", "orders.aside"];
  const topics = [{ topic, numPartitions: PARTITIONS }, { topic: aside }];
  await insist(() => admin.createTopics({ topics }));
  await producer.connect();
  const values = subscriptions.map((one) =>
    JSON.stringify({ organization: organizationOf(one), data: ORDER.data }),
  );
  for (let sent = 0; sent < count; sent += CHUNK) {
    const messages = Array.from({ length: CHUNK }, (_, i) => ({
      key: `k${(sent + i) % KEYS}`,
      value: values[(sent + i) % values.length] ?? "",
    }));
    await producer.send({ topic, messages });
  }
  await Promise.all([admin.disconnect(), producer.disconnect()]);
  return {
    ...{ kind: "kafka", brokers, topics: topic, group: "bench", set_aside: { topic: aside } },
    event: {
      organization: { pointer: "/organization" },
      type: ORDER.type,
      data: { pointer: "/data" },
    },
  };
}

function organizationOf({ partner }: Subscription): string {
  return `org_${partner.organizationId}`;
}

async function inTurns(rig: Rig, setUp: SetUp, name: string): Promise<Row[]> {
  const load = rig.child<Load>("load");
  const ms = rig.size(2_500, 500);
  const rounds: Awaited<ReturnType<typeof round>>[] = [];
  while (rounds.length <= rig.size(ROUNDS, 1)) rounds.push(await round(setUp, load, ms));
  await load.end();
  const compared = rounds.slice(1); // The first is a warm-up.
  const { ratio, bridge, one, two } = middleOf(compared);
  const memory = await memoryOf(setUp.bridge.pid);
  const cpu = median(compared.map(({ cpuUs }) => cpuUs)).toFixed(0);
  const turns = compared.map((turn) => turn.ratio.toFixed(2)).join(", ");
  const rates = `${inThousands(bridge)}/s, a client ${inThousands(one)}/s, two ${inThousands(two)}/s`;
  return [
    atLeast(
      `bridge from ${name}, to a client with ready batches`,
      { must: 0.8, aim: 1, unit: "×" },
      { value: ratio, measured: `${rates}; CPU of the bridge ${cpu} µs an event; turns ${turns}` },
    ),
    atMost(
      `memory of the bridge, backlog in ${name}`,
      { must: 150, aim: 120, unit: "MB" },
      {
        value: memory?.peakMb ?? null,
        measured: "resident set size, maximum since the start",
      },
    ),
  ];
}

/** Events a second of one client, of two, and of the bridge, one right after the other. */
async function round({ stage, service, bridge }: SetUp, load: Child<Load>, ms: number) {
  bridge.pause();
  const clientsOf = async (connections: number) => {
    const requests = keyedBatches(stage.subscriptions, BATCHES);
    const plan = { url: service.operatorUrl, requests, connections, warmUpMs: 200, ms };
    const { perSecond, ...answered } = await load.ask("saturate", plan);
    requireAnswered(answered);
    if (answered.ok > BATCHES) throw new Error(`a turn has needed ${answered.ok} batches`);
    return perSecond * stage.subscriptions.length;
  };
  const [one, two] = [await clientsOf(1), await clientsOf(2)];
  bridge.resume();
  await sleep(WARM_UP_MS);
  const meter = await Meter.open(stage.db, [bridge.pid]);
  const [before, beganMs] = [await publishedBy(bridge.url), monotonicMs()];
  await sleep(ms);
  const [after, endedMs] = [await publishedBy(bridge.url), monotonicMs()];
  const { nodeMs } = await meter.read();
  const events = after - before;
  const perSecond = (events * 1_000) / (endedMs - beganMs);
  return { ratio: perSecond / one, bridge: perSecond, one, two, cpuUs: (nodeMs * 1_000) / events };
}

const PUBLISHED = /^partner_api_bridge_published_total{source="bench"} (\d+)$/m;

async function publishedBy(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(PUBLISHED.exec(text)?.[1]);
}

/** The latency of rows of an outbox and of events that are published over HTTP one by one, in turns. */
async function untilReceived(rig: Rig): Promise<Row[]> {
  const stage = await rig.stage(rig.receivers.urls(100));
  await subscribeToOrders(stage.db);
  await stage.db.unsafe(OUTBOX);
  const service = await rig.service(stage, PUBLISHER);
  await rig.bridge(service, TOKEN, { kind: "outbox", url: stage.url });
  const direct = { url: service.operatorUrl, requests: publishRequests(stage.subscriptions) };
  const offer = { perSecond: PER_SECOND, warmUpMs: rig.size(1_000, 100), ms: rig.size(4_000, 500) };
  const rounds: { ratio: number; ours: number; http: number }[] = [];
  while (rounds.length <= rig.size(ROUNDS, 1)) {
    const timed = await timelineOfRequests(rig, direct, offer);
    const http = percentile(
      timed.map(({ tookMs }) => tookMs),
      0.99,
    );
    const ours = percentile(await throughOutbox(rig, stage, offer), 0.99);
    rounds.push({ ratio: ours / http, ours, http });
  }
  const { ratio, ours, http } = middleOf(rounds.slice(1));
  const measured = `${inMs(ours)} at ${PER_SECOND}/s, over HTTP ${inMs(http)}`;
  const goal = { must: 2, aim: 1, unit: "×" } as const;
  return [atMost("a row of an outbox to received, p99", goal, { value: ratio, measured })];
}

/** Writes rows at a steady rate. Returns the time from when each was sent to the arrival of its delivery, as for requests. */
async function throughOutbox(rig: Rig, { db, subscriptions }: Stage, offer: Offer) {
  const { perSecond, warmUpMs, ms } = offer;
  await rig.receivers.process.ask("reset", { note: true });
  const sent = new Map<string, number>();
  const inserts: Promise<unknown>[] = [];
  const beganMs = monotonicMs();
  const total = Math.round(((warmUpMs + ms) * perSecond) / 1_000);
  for (const [n, one] of take(subscriptions, total)) {
    const dueMs = beganMs + (n * 1_000) / perSecond;
    await sleep(Math.max(0, dueMs - monotonicMs()));
    const order = randomUUID();
    const data = JSON.stringify({ ...ORDER.data, order_id: order });
    if (dueMs >= beganMs + warmUpMs) sent.set(order, monotonicMs());
    inserts.push(
      db`
      insert into outbox (organization, type, key, data)
      values (${organizationOf(one)}, ${ORDER.type}, ${order}, ${data}::json)`.execute(),
    );
  }
  await Promise.all(inserts);
  await arrivalOf(rig, total);
  const arrived = new Map(await rig.receivers.process.ask("noted"));
  const events = await db<{ id: string; order: string }[]>`
    select id, data::json ->> 'order_id' as "order" from events`;
  return events.flatMap(({ id, order }) => {
    const sentMs = sent.get(order);
    return sentMs === undefined ? [] : (arrived.get(publicId("evt", id)) ?? Infinity) - sentMs;
  });
}

/** The subscriptions in turn, so many, with their index. */
function take(subscriptions: readonly Subscription[], total: number): [number, Subscription][] {
  return Array.from({ length: total }, (_, n) => {
    const one = subscriptions[n % subscriptions.length];
    if (one === undefined) throw new Error("there is no subscription");
    return [n, one];
  });
}
