import { Level } from "./support/level.ts";
import { memoryOf } from "./support/memory.ts";
import { inThousands } from "./support/report.ts";
import { atLeast, atMost } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";

const TURN_MS = 1_000;
const WARM_UP_TURNS = 3;
const TURNS = 10;

/** Does a long queue slow down deliveries or use memory? The queue lengths alternate every second. */
export const growth: Scenario = {
  name: "growth",
  run: async (rig) => {
    const lengths = [rig.size(10_000, 1_000), rig.size(100_000, 2_000), rig.size(1_000_000, 5_000)];
    const levels = await Promise.all(lengths.map((length) => Level.open(rig, length)));
    await takeTurns(levels, rig.size(WARM_UP_TURNS, 1));
    for (const level of levels) level.reset();
    await takeTurns(levels, rig.size(TURNS, 2));

    const [ten = NaN, hundred = NaN, million = NaN] = levels.map(({ rate }) => rate);
    const against = (rate: number) => ({
      value: rate / ten,
      measured: `${inThousands(rate)}/s, with 10,000 waiting ${inThousands(ten)}/s`,
    });
    const goal = { must: 0.9, aim: 1, unit: "×" } as const;
    const memory = await memoryOf(levels.at(-1)?.service.pid ?? 0);
    return [
      atLeast("growth, 100,000 waiting", goal, against(hundred)),
      atLeast("growth, 1,000,000 waiting", goal, against(million)),
      atMost(
        "memory, with 1,000,000 waiting",
        { must: 300, aim: 200, unit: "MB" },
        {
          value: memory?.peakMb ?? null,
          measured: "resident set size, maximum since the start",
        },
      ),
    ];
  },
};

async function takeTurns(levels: Level[], turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    for (const level of levels) await level.turn(TURN_MS);
  }
}
