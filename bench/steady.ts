import { setTimeout as sleep } from "node:timers/promises";
import type { Load } from "./processes/load.ts";
import { requireAnswered } from "./support/http.ts";
import type { Subscription } from "./support/partners.ts";
import { inThousands } from "./support/report.ts";
import { testRequests } from "./support/requests.ts";
import { atLeast } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";
import type { Service } from "./support/service.ts";

const PER_SECOND = 2_000;
const MINUTES = 10;
/** A service that keeps up has responded by then. */
const LATE_MS = 5_000;

/**
 * Does the service slow down under a steady load while dead rows accumulate and are vacuumed? If
 * the machine cannot carry the load, the rates show the same.
 */
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
    const ms = MINUTES * minuteMs;
    const offered = load.ask("pace", offer(service, stage.subscriptions, ms), 2 * ms + LATE_MS);
    const rates: number[] = [];
    let before = await receiver.ask("count");
    for (let minute = 0; minute < MINUTES; minute++) {
      const since = performance.now();
      await Promise.race([sleep(minuteMs), offered]);
      const after = await receiver.ask("count");
      rates.push(((after.requests - before.requests) * 1000) / (performance.now() - since));
      before = after;
    }
    const answered = await Promise.race([offered, sleep(LATE_MS)]);
    if (answered !== undefined) requireAnswered(answered);
    await load.end();
    await offered.catch(() => undefined); // Do not wait for requests that the machine cannot carry.

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

function offer({ partnerUrl: url }: Service, subscriptions: Subscription[], ms: number) {
  const time = { warmUpMs: 0, ms };
  const requests = testRequests(subscriptions);
  return { url, perSecond: PER_SECOND, ...time, connections: 64, requests, note: false };
}
