import { compareRounds, drainInTurns } from "./support/drain-in-turns.ts";
import { atLeast } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";

/** Compares the drain with and without counted activity. */
export const activity: Scenario = {
  name: "activity",
  run: async (rig) => {
    const { silent, counting } = await drainInTurns(rig, {
      silent: { program: "service-without-activity" },
      counting: {},
    });
    return [
      atLeast(
        "drain with activity against without",
        { must: 0.97, aim: 0.99, unit: "×" },
        compareRounds(counting, silent, "without"),
      ),
    ];
  },
};
