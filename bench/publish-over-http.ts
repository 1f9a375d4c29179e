import { loadEventTypes } from "../src/event-types/load.ts";
import { randomId } from "../src/lib/ids.ts";
import { insertPlainly } from "./publish.ts";
import { bareRoute, type Baseline } from "./support/baselines.ts";
import { compareRates } from "./support/http.ts";
import { timelineOfRequests } from "./support/latency.ts";
import type { Subscription } from "./support/partners.ts";
import {
  batchRequest,
  EVENT_TYPES,
  ORDER,
  PUBLISHER,
  publishRequests,
  subscribeToOrders,
} from "./support/publisher.ts";
import { inMs } from "./support/report.ts";
import { testRequests } from "./support/requests.ts";
import type { Rig, Stage } from "./support/rig.ts";
import { atLeast, atMost, type Row } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";
import type { Service } from "./support/service.ts";
import { middleOf, percentile } from "./support/statistics.ts";

const BATCH = 100;
const PER_SECOND = 1_000;
/** Concurrent inserting connections, two for each core. The service writes on two. */
const INSERTING = 4;
const ROUNDS = 15;

/** Publishes like a service of the platform. */
export const publishOverHttp: Scenario = {
  name: "publish-over-http",
  run: async (rig) => {
    const stage = await rig.stage(rig.receivers.urls(100));
    await subscribeToOrders(stage.db);
    const api = await rig.service(stage, { ...PUBLISHER, ROLE: "api" });
    const rows = [await oneByOne(rig, stage, api), await inBatches(rig, stage, api)];
    await api.stop();
    await stage.db`delete from waiting_deliveries`;
    const service = await rig.service(stage, PUBLISHER);
    return [...rows, ...(await untilReceived(rig, stage, service)), await validation(rig)];
  },
};

/** The share of a bare route that publishing reaches, against the share that accepting a test call reaches. */
async function oneByOne(rig: Rig, { subscriptions }: Stage, service: Service): Promise<Row> {
  const shareOf = async (url: string, requests: string[]) =>
    compareRates(rig, { url, requests }, await bareRoute(rig, requests));
  const accepted = await shareOf(service.partnerUrl, testRequests(subscriptions));
  const { ratio, measured } = await shareOf(service.operatorUrl, publishRequests(subscriptions));
  const both = `${measured}; ${ratio.toFixed(3)} of it, where accept has ${accepted.ratio.toFixed(3)}`;
  const value = ratio / accepted.ratio;
  const goal = { must: 1, aim: 1.1, unit: "×" } as const;
  return atLeast("publish over HTTP, one by one, to accept", goal, { value, measured: both });
}

/** The organization has no subscriptions, so both sides insert the same rows. */
async function inBatches(rig: Rig, { db, ...stage }: Stage, { operatorUrl: url }: Service) {
  const [one] = await stage.add(1, "batches", rig.receivers.urls(1));
  if (!one) throw new Error("there is no subscription");
  await db`update subscriptions set events = '{vc.test.ping}' where id = ${one.id}`;
  const { organizationId } = one.partner;
  const ms = rig.size(700, 100);
  const rows = { events: BATCH, deliveries: 0, keys: 0, data: JSON.stringify(ORDER.data) };
  const requestId = randomId();
  const insert: Baseline = {
    setting: `bare INSERT over ${INSERTING} connections`,
    measure: async () => {
      const until = performance.now() + ms;
      let batches = 0;
      const keepInserting = async () => {
        while (performance.now() < until) {
          await insertPlainly(db, organizationId, { ...rows, requestId });
          batches++;
        }
      };
      await Promise.all(Array.from({ length: INSERTING }, keepInserting));
      return batches / (ms / 1000);
    },
    close: () => Promise.resolve(),
  };
  const request = batchRequest(Array<Subscription>(BATCH).fill(one));
  const { ratio, measured } = await compareRates(rig, { url, requests: [request] }, insert);
  const goal = { must: 0.5, aim: 0.5, unit: "×" } as const;
  return atLeast(`publish over HTTP, batches of ${BATCH}`, goal, { value: ratio, measured });
}

/** The latency of published events and of test events, in turn. */
async function untilReceived(rig: Rig, { subscriptions }: Stage, service: Service) {
  const published = { url: service.operatorUrl, requests: publishRequests(subscriptions) };
  const tests = { url: service.partnerUrl, requests: testRequests(subscriptions) };
  const offer = { perSecond: PER_SECOND, warmUpMs: rig.size(500, 100), ms: rig.size(1_500, 500) };
  const timed = async (target: typeof tests) =>
    (await timelineOfRequests(rig, target, offer)).map(({ tookMs }) => tookMs);

  await timed(tests); // Warm up.
  await timed(published);
  const rounds: { test: number[]; ours: number[] }[] = [];
  while (rounds.length < rig.size(ROUNDS, 2)) {
    const isFirst = rounds.length % 2 === 0; // A slow moment of the machine affects both.
    const before = isFirst ? await timed(tests) : null;
    const ours = await timed(published);
    rounds.push({ test: before ?? (await timed(tests)), ours });
  }
  return [0.5, 0.99].map((share): Row => {
    const compared = rounds.map((round) => {
      const [test, ours] = [percentile(round.test, share), percentile(round.ours, share)];
      return { ratio: ours / test, ours, test };
    });
    const { ratio, ours, test } = middleOf(compared);
    const measured = `${inMs(ours)} at ${PER_SECOND}/s, test events ${inMs(test)}`;
    const goal = { must: 1.1, aim: 1, unit: "×" } as const;
    const name = `published to received, p${100 * share}`;
    return atMost(name, goal, { value: ratio, measured });
  });
}

/** The cost of checking the data of one event against its schema. */
async function validation(rig: Rig): Promise<Row> {
  const types = await loadEventTypes(EVENT_TYPES);
  const type = types.find(({ name }) => name === ORDER.type);
  if (!type) throw new Error(`${ORDER.type} is not declared`);
  const times = rig.size(1_000_000, 1_000);
  for (let i = 0; i < times / 10; i++) type.faultsOf(ORDER.data);
  const began = performance.now();
  let faults = 0;
  for (let i = 0; i < times; i++) faults += type.faultsOf(ORDER.data).length;
  const value = ((performance.now() - began) * 1_000) / times;
  if (faults > 0) throw new Error("the event is not valid");
  const measured = `${times} checks of an order with four members`;
  return atMost("schema validation", { must: 10, aim: 2, unit: "µs" }, { value, measured });
}
