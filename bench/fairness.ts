import { latenciesOf } from "./support/latency.ts";
import { inMs } from "./support/report.ts";
import { atMost } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";
import { percentile } from "./support/statistics.ts";

const PER_SECOND = 200;
const SLOW_MS = 9_900;

/** Whether one receiver that takes its time makes the others wait. */
export const fairness: Scenario = {
  name: "fairness",
  run: async (rig) => {
    const [slowUrl = ""] = rig.receivers.urls(100, `/after/${SLOW_MS}`).slice(-1);
    const stage = await rig.stage([slowUrl, ...rig.receivers.urls(99)]);
    const [slow, ...healthy] = stage.subscriptions;
    const service = await rig.service(stage);
    const offer = { perSecond: PER_SECOND, ms: rig.size(20_000, 1_000) };

    const without = await latenciesOf(rig, service, healthy, {
      ...offer,
      warmUpMs: rig.size(3_000, 500),
    });
    const beside = await latenciesOf(rig, service, stage.subscriptions, {
      ...offer,
      warmUpMs: rig.size(SLOW_MS, 500), // Until it has as many attempts under way as it ever will.
      unmeasured: slow,
    });

    const [before, after] = [percentile(without, 0.99), percentile(beside, 0.99)];
    return [
      atMost(
        "fairness, beside a receiver of 9.9 s",
        { must: 1.5, aim: 1.1, unit: "×" },
        {
          value: after / before,
          measured: `p99 of the healthy ${inMs(after)}, without the slow one ${inMs(before)}`,
        },
      ),
    ];
  },
};
