import { setTimeout as sleep } from "node:timers/promises";
import type { Load } from "./processes/load.ts";
import { Meter } from "./support/cost.ts";
import { requireAnswered } from "./support/http.ts";
import { arrivalOf } from "./support/latency.ts";
import { monotonicMs } from "./support/monotonic.ts";
import { inMs, inThousands } from "./support/report.ts";
import { testRequests } from "./support/requests.ts";
import type { Rig, Stage } from "./support/rig.ts";
import { atLeast, atMost, type Row } from "./support/row.ts";
import type { Answered } from "./support/saturate.ts";
import type { Scenario } from "./support/scenario.ts";
import type { Service } from "./support/service.ts";
import { median, percentile } from "./support/statistics.ts";

const ROUNDS = 5;
/** On each of the two nodes that accept. */
const CONNECTIONS = 64;
const PER_SECOND = 1_000;
/** Long enough to record the last outcomes. */
const RECORDED_MS = 500;

const TOGETHER = ["all", "all"];
const APART = ["api", "api", "dispatcher", "dispatcher"];

/** Two nodes that do everything, and four that share the work by role, each set-up on its own database. */
interface Nodes {
  stage: Stage;
  services: Service[];
  load: Turn[];
  steady: Turn[];
}

interface Turn {
  accepted: number;
  delivered: number;
  /** The 99th percentile of the time from the publication to the receiver. */
  lagMs: number;
  /** CPU of the processes and of PostgreSQL for an event. */
  cpuMs: number;
}

/**
 * Split roles (2 × `api`, 2 × `dispatcher`) against two nodes that do everything, in turns. Each gets as many events as it
 * accepts, and then 1,000 a second.
 */
export const split: Scenario = {
  name: "split",
  run: async (rig) => {
    const [together, apart] = [await open(rig, TOGETHER), await open(rig, APART)];
    for (let round = 0; round <= rig.size(ROUNDS, 1); round++) {
      for (const nodes of [together, apart]) {
        const load = await turnOf(rig, nodes, null);
        const steady = await turnOf(rig, nodes, PER_SECOND);
        if (round === 0) continue; // Warm-up.
        nodes.load.push(load);
        nodes.steady.push(steady);
      }
    }
    return rowsOf(together, apart);
  },
};

async function open(rig: Rig, roles: string[]): Promise<Nodes> {
  const stage = await rig.stage(rig.receivers.urls(100));
  const services: Service[] = [];
  for (const role of roles) services.push(await rig.service(stage, { ROLE: role }));
  return { stage, services, load: [], steady: [] };
}

/** `perSecond`: null for as many as both nodes accept. */
async function turnOf(
  rig: Rig,
  { stage, services }: Nodes,
  perSecond: number | null,
): Promise<Turn> {
  const { process: receiver } = rig.receivers;
  const accepting = services.filter(({ partnerUrl }) => partnerUrl !== "");
  const loads = accepting.map(() => rig.child<Load>("load"));
  const pids = services.map(({ pid }) => pid);
  await receiver.ask("reset", { note: true });
  const meter = await Meter.open(stage.db, pids);
  const ms = rig.size(4_000, 300);
  const began = performance.now();
  const answered = await Promise.all(
    loads.map((load, node): Promise<Answered> => {
      const url = accepting[node]?.partnerUrl ?? "";
      const requests = testRequests(stage.subscriptions);
      const plan = { url, requests, connections: CONNECTIONS, warmUpMs: 0, ms };
      if (perSecond === null) return load.ask("saturate", plan);
      return load.ask("pace", { ...plan, perSecond: perSecond / loads.length, note: false });
    }),
  );
  const tookMs = performance.now() - began;
  answered.forEach(requireAnswered);
  const events = answered.reduce((sum, { ok }) => sum + ok, 0);
  await arrivalOf(rig, events);
  await sleep(RECORDED_MS);
  const { nodeMs, postgresMs } = await meter.read();
  const { firstMs, lastMs } = await receiver.ask("count");
  const lags = lagsOf(await receiver.ask("noted"));
  await Promise.all(loads.map((load) => load.end()));
  return {
    accepted: (events * 1_000) / tookMs,
    delivered: (events * 1_000) / (lastMs - firstMs),
    lagMs: percentile(lags, 0.99),
    cpuMs: (nodeMs + (postgresMs ?? 0)) / events,
  };
}

/** An event's id contains the time of its publication. */
function lagsOf(noted: [string, number][]): number[] {
  const monotonicZero = Date.now() - monotonicMs();
  return noted.map(([id, atMs]) => {
    const publishedAt = parseInt(id.replace("evt_", "").replaceAll("-", "").slice(0, 12), 16);
    return monotonicZero + atMs - publishedAt;
  });
}

function rowsOf(together: Nodes, apart: Nodes): Row[] {
  const compare = (when: "load" | "steady", what: keyof Turn, show: (value: number) => string) => {
    const of = (nodes: Nodes) => nodes[when].map((turn) => turn[what]);
    const ratios = of(apart).map((value, round) => value / (of(together)[round] ?? NaN));
    const both = [together, apart].map((nodes) => show(median(of(nodes))));
    const measured = `${both[1]}; two nodes that do everything ${both[0]}; turns ${ratios.map((one) => one.toFixed(2)).join(", ")}`;
    return { value: median(ratios), measured };
  };
  const perSecond = (rate: number) => `${inThousands(rate)}/s`;
  const cpu = (ms: number) => `${ms.toFixed(3)} ms`;
  const steady = `at ${PER_SECOND}/s`;
  const rates = { must: 0.8, aim: 1, unit: "×" } as const;
  const cpus = { must: 1.3, aim: 1.1, unit: "×" } as const;
  const lags = { must: 30, aim: 2, unit: "×" } as const;
  const steadyLags = { must: 2, aim: 1.5, unit: "×" } as const;
  return [
    atLeast("split roles, deliveries a second", rates, compare("load", "delivered", perSecond)),
    atLeast("split roles, accepted a second", rates, compare("load", "accepted", perSecond)),
    atMost("split roles, lag p99 under load", lags, compare("load", "lagMs", inMs)),
    atMost("split roles, CPU for an event under load", cpus, compare("load", "cpuMs", cpu)),
    atMost(`split roles, lag p99 ${steady}`, steadyLags, compare("steady", "lagMs", inMs)),
    atMost(`split roles, CPU for an event ${steady}`, cpus, compare("steady", "cpuMs", cpu)),
  ];
}
