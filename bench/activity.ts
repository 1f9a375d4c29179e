import { drain, requireDelivered } from "./support/deliveries.ts";
import { fillQueue } from "./support/queue.ts";
import { inThousands } from "./support/report.ts";
import { atLeast } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";
import { median } from "./support/statistics.ts";
import { perSecond, turnOf } from "./support/turn.ts";

const SUBSCRIPTIONS = 1_000;
const WARM_UP = 20_000;
const PAIRS = 5;
/** Longer than the time between two writes of the activity. */
const TURN_MS = 6_000;
const BACKLOG_MAX = 20_000 * ((TURN_MS * (PAIRS + 1)) / 1_000);

/**
 * Compares the drain with and without counted activity. Both services take turns, each on its own database.
 */
export const activity: Scenario = {
  name: "activity",
  run: async (rig) => {
    const open = async (program: string) => {
      const stage = await rig.stage(rig.receivers.urls(SUBSCRIPTIONS));
      const service = await rig.service(stage, { ROLE: "dispatcher" }, program);
      await drain(rig, stage, rig.size(WARM_UP, 500));
      await requireDelivered(stage, rig.size(WARM_UP, 500));
      service.pause();
      await fillQueue(stage.db, stage.subscriptions, rig.size(BACKLOG_MAX, 5_000));
      return service;
    };
    const counting = await open("service");
    const silent = await open("service-without-activity");

    const rates = { counting: [] as number[], silent: [] as number[] };
    const ms = rig.size(TURN_MS, 300);
    // Not counted: the first turn may end before the service has noticed the backlog.
    for (const service of [silent, counting]) await turnOf(rig, service, ms);
    for (let pair = 0; pair < rig.size(PAIRS, 2); pair++) {
      rates.silent.push(perSecond([await turnOf(rig, silent, ms)]));
      rates.counting.push(perSecond([await turnOf(rig, counting, ms)]));
    }
    const ratios = rates.counting.map((rate, i) => rate / (rates.silent[i] ?? NaN));
    const measured = `${inThousands(median(rates.counting))}/s; without ${inThousands(median(rates.silent))}/s; turns ${ratios.map((ratio) => ratio.toFixed(2)).join(", ")}`;
    return [
      atLeast(
        "drain with activity against without",
        { must: 0.97, aim: 0.99, unit: "×" },
        { value: median(ratios), measured },
      ),
    ];
  },
};
