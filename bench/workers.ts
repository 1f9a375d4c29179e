import type { Load } from "./processes/load.ts";
import { childrenOf, Meter } from "./support/cost.ts";
import { requireAnswered } from "./support/http.ts";
import { latenciesOf } from "./support/latency.ts";
import { inMs, inThousands } from "./support/report.ts";
import { identityRequests, testRequests } from "./support/requests.ts";
import type { Rig, Stage } from "./support/rig.ts";
import { atLeast, atMost, type Row } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";
import type { Service } from "./support/service.ts";
import { median, percentile } from "./support/statistics.ts";

const ROUNDS = 7;
const CONNECTIONS = 64;
const PER_SECOND = [50, 500];

/** What is measured of a set-up in each turn. */
interface Turn {
  identity: Rate;
  calls: Rate;
  /** The 99th percentile from the publication to the receiver, at each of `PER_SECOND`. */
  p99: number[];
}

/** How many requests a second, and the CPU of one. */
interface Rate {
  perSecond: number;
  workersMs: number;
  parentMs: number;
  postgresMs: number;
}

interface SetUp {
  stage: Stage;
  service: Service;
  pids: number[];
  turns: Turn[];
}

/** A service with two workers against one with one, in turns, each on its own database. */
export const workers: Scenario = {
  name: "workers",
  run: async (rig) => {
    const [one, two] = [await open(rig, "1"), await open(rig, "2")];
    for (let round = 0; round <= rig.size(ROUNDS, 1); round++) {
      for (const setUp of [one, two]) {
        const turn = await turnOf(rig, setUp);
        if (round > 0) setUp.turns.push(turn); // The first is a warm-up.
      }
    }
    return rowsOf(one, two);
  },
};

async function open(rig: Rig, count: string): Promise<SetUp> {
  const stage = await rig.stage(rig.receivers.urls(100));
  const service = await rig.service(stage, { WORKERS: count }, null);
  return { stage, service, pids: await childrenOf(service.pid), turns: [] };
}

async function turnOf(rig: Rig, setUp: SetUp): Promise<Turn> {
  const { stage, service } = setUp;
  const identity = await rateOf(rig, setUp, identityRequests(stage.subscriptions));
  const calls = await rateOf(rig, setUp, testRequests(stage.subscriptions));
  const p99: number[] = [];
  for (const perSecond of PER_SECOND) {
    const offer = { perSecond, warmUpMs: rig.size(500, 200), ms: rig.size(4_000, 500) };
    p99.push(percentile(await latenciesOf(rig, service, stage.subscriptions, offer), 0.99));
  }
  return { identity, calls, p99 };
}

async function rateOf(
  rig: Rig,
  { stage, service, pids }: SetUp,
  requests: string[],
): Promise<Rate> {
  const load = rig.child<Load>("load");
  const plan = { url: service.partnerUrl, requests, connections: CONNECTIONS };
  await load.ask("saturate", { ...plan, warmUpMs: rig.size(300, 50), ms: 0 });
  const parent = await Meter.open(stage.db, [service.pid]);
  const workers = await Meter.open(stage.db, pids);
  const { perSecond, ...answered } = await load.ask("saturate", {
    ...{ ...plan, warmUpMs: 0 },
    ms: rig.size(2_000, 200),
  });
  const [ofParent, ofWorkers] = [await parent.read(), await workers.read()];
  requireAnswered(answered);
  await load.end();
  return {
    perSecond,
    workersMs: ofWorkers.nodeMs / answered.ok,
    parentMs: ofParent.nodeMs / answered.ok,
    postgresMs: (ofWorkers.postgresMs ?? NaN) / answered.ok,
  };
}

function rowsOf(one: SetUp, two: SetUp): Row[] {
  const compare = (valueOf: (turn: Turn) => number) => {
    const values = [one, two].map(({ turns }) => turns.map(valueOf));
    const ratios = (values[1] ?? []).map((value, round) => value / (values[0]?.[round] ?? NaN));
    const turns = ratios.map((ratio) => ratio.toFixed(2)).join(", ");
    return { value: median(ratios), middle: values.map((all) => median(all)), turns };
  };
  const rates = (what: "identity" | "calls") => {
    const { value, middle, turns } = compare((turn) => turn[what].perSecond);
    const told = middle.map((rate) => `${inThousands(rate)}/s`).reverse();
    const costs = [two, one].map((setUp) => costOf(setUp.turns.map((turn) => turn[what])));
    const measured = `${told.join(" against ")}; CPU of a request ${costs.join(" against ")}; turns ${turns}`;
    return { value, measured };
  };
  return [
    atLeast(
      "identity checks with two workers",
      { must: 1.25, aim: 1.5, unit: "×" },
      rates("identity"),
    ),
    atLeast("test calls with two workers", { must: 0.95, aim: 1.2, unit: "×" }, rates("calls")),
    ...PER_SECOND.map((perSecond, i) => {
      const { value, middle, turns } = compare(({ p99 }) => p99[i] ?? NaN);
      const measured = `${middle.map(inMs).reverse().join(" against ")}; turns ${turns}`;
      const goal = { must: 1.2, aim: 1, unit: "×" } as const;
      return atMost(`latency with two workers, ${perSecond}/s, p99`, goal, { value, measured });
    }),
  ];
}

function costOf(rates: Rate[]): string {
  const of = (part: keyof Rate) => median(rates.map((rate) => rate[part])).toFixed(3);
  return `${of("workersMs")} + ${of("parentMs")} ms and PostgreSQL ${of("postgresMs")} ms`;
}
