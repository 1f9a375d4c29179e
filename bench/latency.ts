import { latenciesOf } from "./support/latency.ts";
import { atMost } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";
import { percentile } from "./support/statistics.ts";

const PER_SECOND = 1_000;

/** The latency from the request to the arrival of the delivery, under a steady load. */
export const latency: Scenario = {
  name: "latency",
  run: async (rig) => {
    const stage = await rig.stage(rig.receivers.urls(100));
    const service = await rig.service(stage);
    const latencies = await latenciesOf(rig, service, stage.subscriptions, {
      perSecond: PER_SECOND,
      warmUpMs: rig.size(10_000, 500),
      ms: rig.size(20_000, 2_000),
    });

    const measured = `${latencies.length} events at 1,000/s`;
    const [p50, p99] = [percentile(latencies, 0.5), percentile(latencies, 0.99)];
    return [
      atMost("latency, p50", { must: 8, aim: 1.2, unit: "ms" }, { value: p50, measured }),
      atMost("latency, p99", { must: 60, aim: 5, unit: "ms" }, { value: p99, measured }),
    ];
  },
};
