import type { Load } from "./processes/load.ts";
import { childrenOf, Meter } from "./support/cost.ts";
import { requireAnswered } from "./support/http.ts";
import { latenciesOf } from "./support/latency.ts";
import type { Subscription } from "./support/partners.ts";
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
/** Few, so that each worker has its connections to them before the measurement begins. */
const RECEIVERS = 10;
const MANY = 2_000;

/** How many requests a second, and the CPU of one. */
interface Rate {
  perSecond: number;
  workersMs: number;
  parentMs: number;
  postgresMs: number;
}

interface SetUp {
  stage: Stage;
  /** Of so many organizations that two workers rarely admit requests of the same one at the same time. */
  many: Subscription[];
  service: Service;
  /** Of the workers. With one, that is the service itself. */
  pids: number[];
}

type Goal = Parameters<typeof atLeast>[1];

/** A service with two workers against one with one, in turns, each on its own database. */
export const workers: Scenario = {
  name: "workers",
  run: async (rig) => {
    const setUps = [await open(rig, "1"), await open(rig, "2")] as const;
    const rounds = rig.size(ROUNDS, 1);
    const identity = await inTurns(setUps, rounds, (one) =>
      rateOf(rig, one, identityRequests(one.stage.subscriptions)),
    );
    const ofMany = await inTurns(setUps, rounds, (one) =>
      rateOf(rig, one, identityRequests(one.many)),
    );
    const calls = await inTurns(setUps, rounds, (one) =>
      rateOf(rig, one, testRequests(one.stage.subscriptions)),
    );
    const rows = [
      rateRow("identity checks with two workers", RATES, identity),
      rateRow(`… of ${MANY} organizations`, RATES, ofMany),
      rateRow("test calls with two workers", { must: 0.95, aim: 1.2, unit: "×" }, calls),
    ];
    for (const perSecond of PER_SECOND) {
      const p99 = await inTurns(setUps, rounds, (one) => latencyOf(rig, one, perSecond));
      rows.push(latencyRow(`latency with two workers, ${perSecond}/s, p99`, p99));
    }
    return rows;
  },
};

const RATES = { must: 1.25, aim: 1.5, unit: "×" } as const;

/** What was measured of one worker and of two, one right after the other. */
type Pair<Value> = readonly [Value, Value];

async function inTurns<Value>(
  [one, two]: Pair<SetUp>,
  rounds: number,
  measure: (setUp: SetUp) => Promise<Value>,
): Promise<Pair<Value>[]> {
  const pairs: Pair<Value>[] = [];
  while (pairs.length <= rounds) pairs.push([await measure(one), await measure(two)]);
  return pairs.slice(1); // The first is a warm-up.
}

async function open(rig: Rig, count: string): Promise<SetUp> {
  const stage = await rig.stage(rig.receivers.urls(100));
  const many = await stage.add(MANY, "many", rig.receivers.urls(MANY));
  const service = await rig.service(stage, { WORKERS: count }, null);
  return { stage, many, service, pids: await childrenOf(service.pid) };
}

async function latencyOf(rig: Rig, { stage, service }: SetUp, perSecond: number): Promise<number> {
  const offer = { perSecond, warmUpMs: rig.size(2_500, 200), ms: rig.size(4_000, 500) };
  const few = stage.subscriptions.slice(0, RECEIVERS);
  return percentile(await latenciesOf(rig, service, few, offer), 0.99);
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
    ms: rig.size(1_500, 200),
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

function rateRow(name: string, goal: Goal, pairs: Pair<Rate>[]): Row {
  const { value, turns } = compare(pairs.map(([one, two]) => [one.perSecond, two.perSecond]));
  const told = ([1, 0] as const).map((i) => {
    const rates = pairs.map((pair) => pair[i]);
    const of = (part: keyof Rate) => median(rates.map((rate) => rate[part]));
    const cpu = (part: keyof Rate) => of(part).toFixed(3);
    const node = `${cpu("workersMs")} + ${cpu("parentMs")}`;
    return `${inThousands(of("perSecond"))}/s (CPU of one: Node.js ${node} ms, PostgreSQL ${cpu("postgresMs")} ms)`;
  });
  return atLeast(name, goal, { value, measured: `${told.join(" against ")}; turns ${turns}` });
}

function latencyRow(name: string, pairs: Pair<number>[]): Row {
  const { value, turns } = compare(pairs);
  const [one, two] = ([0, 1] as const).map((i) => inMs(median(pairs.map((pair) => pair[i]))));
  const measured = `${two ?? ""} against ${one ?? ""}; turns ${turns}`;
  return atMost(name, { must: 1.2, aim: 1, unit: "×" }, { value, measured });
}

function compare(pairs: Pair<number>[]): { value: number; turns: string } {
  const ratios = pairs.map(([one, two]) => two / one);
  return { value: median(ratios), turns: ratios.map((ratio) => ratio.toFixed(2)).join(", ") };
}
