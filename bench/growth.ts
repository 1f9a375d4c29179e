import { rateAtLevel } from "./support/level.ts";
import { fillQueue } from "./support/queue.ts";
import { inThousands } from "./support/report.ts";
import { atLeast } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";

/** Whether a long queue slows deliveries down. */
export const growth: Scenario = {
  name: "growth",
  run: async (rig) => {
    const stage = await rig.stage(rig.receivers.urls(100));
    const levels = [rig.size(10_000, 1_000), rig.size(100_000, 2_000), rig.size(1_000_000, 5_000)];
    const time = { warmUpMs: rig.size(3_000, 1_500), ms: rig.size(10_000, 1_500) };

    const rates: number[] = [];
    let waiting = 0;
    for (const level of levels) {
      await fillQueue(stage.db, stage.subscriptions, level - waiting);
      waiting = level;
      const service = await rig.service(stage, { ROLE: "dispatcher" });
      rates.push(await rateAtLevel(rig, stage, time));
      await service.stop();
    }

    const [ten = NaN, hundred = NaN, million = NaN] = rates;
    const against = (rate: number) => ({
      value: rate / ten,
      measured: `${inThousands(rate)}/s, with 10,000 waiting ${inThousands(ten)}/s`,
    });
    const goal = { must: 0.9, aim: 1, unit: "×" } as const;
    return [
      atLeast("growth, 100,000 waiting", goal, against(hundred)),
      atLeast("growth, 1,000,000 waiting", goal, against(million)),
    ];
  },
};
