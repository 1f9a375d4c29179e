import { latenciesOf } from "./support/latency.ts";
import { inMs } from "./support/report.ts";
import type { Rig, Stage } from "./support/rig.ts";
import { atMost, type Row } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";
import type { Service } from "./support/service.ts";
import { percentile } from "./support/statistics.ts";

/**
 * The latency across an API process and a dispatcher, divided by the latency of one process that does both.
 */
export const across: Scenario = {
  name: "across",
  run: async (rig) => {
    const stage = await rig.stage(rig.receivers.urls(100));
    const rows: Row[] = [];
    for (const perSecond of [10, 1_000]) {
      const both = await rig.service(stage);
      const one = await measure(rig, stage, both, perSecond);
      await both.stop();
      const accepting = await rig.service(stage, { ROLE: "api" });
      const delivering = await rig.service(stage, { ROLE: "dispatcher" });
      const two = await measure(rig, stage, accepting, perSecond);
      await Promise.all([accepting.stop(), delivering.stop()]);
      const measured = `${inMs(two)} and ${inMs(one)} in one process`;
      const goal = { must: 2, aim: 1.5, unit: "×" } as const;
      const value = two / one;
      rows.push(atMost(`latency across two, ${perSecond}/s, p99`, goal, { value, measured }));
    }
    return rows;
  },
};

async function measure(rig: Rig, stage: Stage, service: Service, perSecond: number) {
  const latencies = await latenciesOf(rig, service, stage.subscriptions, {
    perSecond,
    warmUpMs: rig.size(5_000, 500), // Includes each receiver's first handshake.
    ms: rig.size(15_000, 1_000),
  });
  return percentile(latencies, 0.99);
}
