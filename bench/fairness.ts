import { setTimeout as sleep } from "node:timers/promises";
import type { Load } from "./processes/load.ts";
import { latenciesOf } from "./support/latency.ts";
import type { Subscription } from "./support/partners.ts";
import { inMs } from "./support/report.ts";
import { testRequests } from "./support/requests.ts";
import type { Rig } from "./support/rig.ts";
import { atMost } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";
import type { Service } from "./support/service.ts";
import { middleOf, percentile } from "./support/statistics.ts";

/** The total rate of a hundred subscriptions. */
const PER_SECOND = 200;
const SLOW_MS = 9_900;
const ROUNDS = 7;
const LIMIT_MS = 300_000;

interface Served {
  service: Service;
  healthy: Subscription[];
}

/**
 * Does one slow receiver delay the others? Two services alternate, and only one of them sends to
 * the slow receiver. The round with the median ratio counts, so that changes in the machine's speed
 * affect both.
 */
export const fairness: Scenario = {
  name: "fairness",
  run: async (rig) => {
    const [slowUrl = ""] = rig.receivers.urls(100, `/after/${SLOW_MS}`).slice(-1);
    const healthyUrls = rig.receivers.urls(99);
    const alone = await rig.stage(healthyUrls);
    const without = { service: await rig.service(alone), healthy: alone.subscriptions };
    const stage = await rig.stage([slowUrl, ...healthyUrls]);
    const [slow, ...healthy] = stage.subscriptions;
    const beside = { service: await rig.service(stage), healthy };

    const load = rig.child<Load>("load");
    const offered = load.ask("pace", slowOffer(beside.service, slow), LIMIT_MS);
    await sleep(rig.size(SLOW_MS, 500)); // Until it has as many concurrent attempts as possible.
    const rounds: { before: number; after: number; ratio: number }[] = [];
    while (rounds.length < ROUNDS) {
      const before = await healthyP99(rig, without);
      const after = await healthyP99(rig, beside);
      rounds.push({ before, after, ratio: after / before });
    }
    await load.end();
    await offered.catch(() => undefined); // The rest of the load is not needed.

    const { before, after, ratio } = middleOf(rounds);
    const measured = `p99 of the healthy ${inMs(after)}, without the slow receiver ${inMs(before)}`;
    return [
      atMost(
        "fairness, with a receiver that takes 9.9 s",
        { must: 1.5, aim: 1.1, unit: "×" },
        { value: ratio, measured },
      ),
    ];
  },
};

function slowOffer({ partnerUrl: url }: Service, slow: Subscription | undefined) {
  if (slow === undefined) throw new Error("there are no subscriptions");
  const perSecond = PER_SECOND / 100;
  const time = { warmUpMs: 0, ms: LIMIT_MS };
  return { url, perSecond, ...time, connections: 2, requests: testRequests([slow]), note: false };
}

async function healthyP99(rig: Rig, { service, healthy }: Served): Promise<number> {
  const latencies = await latenciesOf(rig, service, healthy, {
    perSecond: (PER_SECOND * 99) / 100,
    warmUpMs: rig.size(300, 100),
    ms: rig.size(2_500, 200),
  });
  return percentile(latencies, 0.99);
}
