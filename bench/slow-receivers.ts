import type { Load } from "./processes/load.ts";
import { latenciesOf } from "./support/latency.ts";
import { inMs } from "./support/report.ts";
import { testRequests } from "./support/requests.ts";
import type { Rig } from "./support/rig.ts";
import { atMost, type Row } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";
import { percentile } from "./support/statistics.ts";

interface Slow {
  answersAfterMs: number;
  perSecond: number;
  /** Until its limit has grown. */
  warmUpMs: number;
}

const SLOW: Slow[] = [
  { answersAfterMs: 9_000, perSecond: 4.8, warmUpMs: 60_000 },
  { answersAfterMs: 1_000, perSecond: 100, warmUpMs: 15_000 },
];
const FAST = 20;
const FAST_PER_SECOND = 100;
const MS = 15_000;
/** Longer than a row takes. */
const LIMIT_MS = 180_000;

/** Does a slow but healthy receiver keep up with its events, among fast ones? */
export const slowReceivers: Scenario = {
  name: "slow-receivers",
  isLong: true,
  run: async (rig) => {
    const rows: Row[] = [];
    for (const slow of SLOW) {
      rows.push(await rowOf(rig, slow));
      await rig.clear();
    }
    return rows;
  },
};

async function rowOf(rig: Rig, { answersAfterMs, perSecond, warmUpMs }: Slow): Promise<Row> {
  const urls = [...rig.receivers.urls(1, `/after/${answersAfterMs}`), ...rig.receivers.urls(FAST)];
  const stage = await rig.stage(urls);
  const [slow, ...fast] = stage.subscriptions;
  if (slow === undefined) throw new Error("there are no subscriptions");
  const service = await rig.service(stage);

  const load = rig.child<Load>("load");
  const target = { url: service.partnerUrl, connections: FAST, requests: testRequests(fast) };
  const offer = { perSecond: FAST_PER_SECOND, warmUpMs: 0, ms: LIMIT_MS, note: false };
  const offered = load.ask("pace", { ...target, ...offer }, 2 * LIMIT_MS).catch(() => undefined);
  const lags = await latenciesOf(rig, service, [slow], {
    perSecond,
    warmUpMs: rig.size(warmUpMs, 500),
    ms: rig.size(MS, 1_000),
  });
  await load.end();
  await offered;

  const measured = `${lags.length} events; p50 ${inMs(percentile(lags, 0.5))}`;
  return atMost(
    `lag of a receiver that takes ${answersAfterMs / 1000} s at ${perSecond}/s, p99`,
    { must: 1_000, aim: 200, unit: "ms" },
    { value: percentile(lags, 0.99), measured },
  );
}
