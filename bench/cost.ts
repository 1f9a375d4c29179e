import { setTimeout as sleep } from "node:timers/promises";
import type { Load } from "./processes/load.ts";
import { requireAnswered } from "./support/http.ts";
import { keptOf, Meter, type Cost } from "./support/cost.ts";
import { arrivalOf } from "./support/latency.ts";
import { batchRequest, PUBLISHER, subscribeToOrders } from "./support/publisher.ts";
import { testRequests } from "./support/requests.ts";
import type { Rig, Stage } from "./support/rig.ts";
import { atMost, type Row } from "./support/row.ts";
import type { Answered } from "./support/saturate.ts";
import type { Scenario } from "./support/scenario.ts";
import type { Service } from "./support/service.ts";

/** Long enough to record the last outcomes. */
const RECORDED_MS = 1_500;
const PACE = 250;
const STEADY = 1_000;
/** Events of a request of the platform, one to each organization. */
const BATCH = 100;

/**
 * The costs of a delivery, from the request to the recorded outcome: CPU, WAL, rows, index entries and disk.
 */
export const cost: Scenario = {
  name: "cost",
  run: async (rig) => {
    const stage = await rig.stage(rig.receivers.urls(100));
    await subscribeToOrders(stage.db);
    const service = await rig.service(stage, PUBLISHER);
    const load = rig.child<Load>("load");
    const requests = testRequests(stage.subscriptions);
    const plan = { url: service.partnerUrl, requests };

    await spend(rig, stage, service, () =>
      load.ask("saturate", { ...plan, connections: 256, warmUpMs: 0, ms: rig.size(5_000, 300) }),
    );
    const underLoad = await spend(rig, stage, service, () =>
      load.ask("saturate", { ...plan, connections: 256, warmUpMs: 0, ms: rig.size(30_000, 1_000) }),
    );
    const kept = await keptOf(stage.db);
    const ms = rig.size(20_000, 1_000);
    const at = (perSecond: number) =>
      spend(rig, stage, service, () =>
        load.ask("pace", { ...plan, perSecond, connections: 64, warmUpMs: 0, ms, note: false }),
      );
    const paced = await at(PACE);
    const steady = await at(STEADY);
    const batches = {
      url: service.operatorUrl,
      requests: [batchRequest(stage.subscriptions.slice(0, BATCH))],
      perSecond: STEADY / BATCH,
      connections: STEADY / BATCH,
    };
    const batched = await spend(
      rig,
      stage,
      service,
      () => load.ask("pace", { ...batches, warmUpMs: 0, ms, note: false }),
      BATCH,
    );
    return [
      ...rowsOf("under load", underLoad),
      ...rowsOf(`at ${PACE} a second`, paced),
      cpuOf(`at ${STEADY.toLocaleString("en")} a second`, steady),
      cpuOf(`at ${STEADY.toLocaleString("en")} a second in batches of ${BATCH}`, batched),
      atMost(
        "cost, bytes kept for a delivered event",
        { must: 300, aim: 260, unit: "B" },
        { value: kept.bytes, measured: kept.measured },
      ),
    ];
  },
};

type Spent = Cost & { events: number; seconds: number };

async function spend(
  rig: Rig,
  { db }: Stage,
  { pid }: Service,
  work: () => Promise<Answered>,
  eventsEach = 1,
): Promise<Spent> {
  const meter = await Meter.open(db, [pid]);
  await rig.receivers.process.ask("reset", {});
  const began = performance.now();
  const answered = await work();
  requireAnswered(answered);
  const events = eventsEach * answered.ok;
  await arrivalOf(rig, events);
  const seconds = (performance.now() - began) / 1000;
  await sleep(RECORDED_MS);
  return { ...(await meter.read()), events, seconds };
}

function rowsOf(when: string, { events, seconds, ...spent }: Spent): Row[] {
  const each = (amount: number) => amount / events;
  const woken = (wakeUps: number) => `woken ${each(wakeUps).toFixed(1)} times for each`;
  const rate = `${Math.round(events / seconds)} deliveries a second; ${woken(spent.nodeWakeUps)}`;
  const written = `${each(spent.rows).toFixed(2)} rows and ${each(spent.indexEntries).toFixed(1)} index entries written for each; ${woken(spent.postgresWakeUps)}`;
  return [
    atMost(
      `cost, Node.js for a delivery ${when}`,
      { must: 2, aim: 0.3, unit: "ms" },
      { value: each(spent.nodeMs), measured: rate },
    ),
    atMost(
      `cost, PostgreSQL for a delivery ${when}`,
      { must: 2, aim: 0.2, unit: "ms" },
      { value: spent.postgresMs === null ? null : each(spent.postgresMs), measured: written },
    ),
    atMost(
      `cost, WAL for a delivery ${when}`,
      { must: 4_000, aim: 1_500, unit: "B" },
      {
        value: each(spent.walBytes),
        measured: `${(spent.walBytes / 1e6).toFixed(1)} MB for ${events}`,
      },
    ),
  ];
}

/** The CPU time of all processes that serve an event. The load generator, the receivers and the name server are not among them. */
function cpuOf(when: string, { events, seconds, nodeMs, postgresMs }: Spent): Row {
  const node = `Node.js ${(nodeMs / events).toFixed(2)} ms`;
  const rate = `${Math.round(events / seconds)} deliveries a second`;
  return atMost(
    `cost, CPU of Node.js and PostgreSQL for an event ${when}`,
    { must: 0.36, aim: 0.36, unit: "ms" },
    {
      value: postgresMs === null ? null : (nodeMs + postgresMs) / events,
      measured: `${node}, ${rate}`,
    },
  );
}
