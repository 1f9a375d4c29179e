import { latenciesOf } from "./support/latency.ts";
import { inMs } from "./support/report.ts";
import type { Rig } from "./support/rig.ts";
import { atMost } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";
import type { Service } from "./support/service.ts";
import { percentile } from "./support/statistics.ts";

/** Single events, delivered by the process that accepts them and by another one. */
export const idleLatency: Scenario = {
  name: "idle-latency",
  run: async (rig) => {
    const stage = await rig.stage(rig.receivers.urls(100));
    const both = await rig.service(stage);
    const alone = await measure(rig, both);
    await both.stop();

    const accepting = await rig.service(stage, { ROLE: "api" });
    await rig.service(stage, { ROLE: "dispatcher" });
    const across = await measure(rig, accepting);
    return [
      atMost("idle latency, one process, p99", { must: 20, aim: 5, unit: "ms" }, alone),
      atMost("idle latency, across two, p99", { must: 300, aim: 100, unit: "ms" }, across),
    ];

    async function measure(rig: Rig, service: Service) {
      // Each receiver once, so that the first handshake with a receiver is not measured.
      await latenciesOf(rig, service, stage.subscriptions, {
        perSecond: 100,
        warmUpMs: 0,
        ms: rig.size(1_000, 100),
      });
      const latencies = await latenciesOf(rig, service, stage.subscriptions, {
        perSecond: 10,
        warmUpMs: rig.size(2_000, 500),
        ms: rig.size(20_000, 1_000),
      });
      const measured = `${latencies.length} events, 100 ms apart; p50 ${inMs(percentile(latencies, 0.5))}`;
      return { value: percentile(latencies, 0.99), measured };
    }
  },
};
