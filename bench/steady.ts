import { setTimeout as sleep } from "node:timers/promises";
import type { Load } from "./processes/load.ts";
import { requireAnswered } from "./support/http.ts";
import { inThousands } from "./support/report.ts";
import { testRequests } from "./support/requests.ts";
import { atLeast } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";

const PER_SECOND = 2_000;
const MINUTES = 10;
/** By then even a service that cannot keep up has answered. */
const LATE_MS = 60_000;

/** Whether the service keeps up with a steady load while its dead rows come and go. */
export const steady: Scenario = {
  name: "steady",
  isLong: true,
  run: async (rig) => {
    const minuteMs = rig.size(60_000, 1_000);
    const stage = await rig.stage(rig.receivers.urls(100));
    const service = await rig.service(stage);
    const { process: receiver } = rig.receivers;
    await receiver.ask("reset", {});

    const load = rig.child<Load>("load");
    const offering = load.ask(
      "pace",
      {
        url: service.partnerUrl,
        connections: 64,
        requests: testRequests(stage.subscriptions),
        perSecond: PER_SECOND,
        warmUpMs: 0,
        ms: MINUTES * minuteMs,
        note: false,
      },
      MINUTES * minuteMs + LATE_MS,
    );
    const rates: number[] = [];
    let before = await receiver.ask("count");
    for (let minute = 0; minute < MINUTES; minute++) {
      const since = performance.now();
      await Promise.race([sleep(minuteMs), offering]);
      const after = await receiver.ask("count");
      rates.push(((after.requests - before.requests) * 1000) / (performance.now() - since));
      before = after;
    }
    requireAnswered(await offering);

    const [first = NaN, last = NaN] = [rates[0], rates.at(-1)];
    return [
      atLeast(
        "growth, 10th minute of a steady 2,000/s",
        { must: 0.9, aim: 1, unit: "×" },
        { value: last / first, measured: rates.map(inThousands).join(", ") },
      ),
    ];
  },
};
