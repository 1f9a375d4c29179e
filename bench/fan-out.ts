import { publish } from "../src/subjects/events/publish.ts";
import { TEST_EVENT, TEST_EVENT_DATA } from "../src/subjects/events/rules.ts";
import { drain } from "./support/deliveries.ts";
import type { Subscription } from "./support/partners.ts";
import { fillQueue } from "./support/queue.ts";
import { inThousands } from "./support/report.ts";
import type { Rig, Stage } from "./support/rig.ts";
import { atLeast, type Row } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";
import type { Service } from "./support/service.ts";
import { middleOf } from "./support/statistics.ts";

const FAN_OUTS = [1, 100, 1_000];
const ROUNDS = 5;
const EVENTS_AT_ONCE = 1_000;

/**
 * Compares the deliveries of events that go to many subscriptions with those of events that go to one each.
 * Both backlogs are written while the service is paused, and drained in turn.
 */
export const fanOut: Scenario = {
  name: "fan-out",
  run: async (rig) => {
    const count = rig.size(20_000, 2_000);
    const stage = await rig.stage(rig.receivers.urls(100));
    const groups = new Map<number, Subscription[]>();
    for (const size of FAN_OUTS) {
      groups.set(size, await stage.add(1, `fan-out-${size}`, rig.receivers.urls(size)));
    }
    const service = await rig.service(stage, { ROLE: "dispatcher" });
    await drain(rig, stage, rig.size(30_000, 500)); // Until the code is compiled.

    const rows: Row[] = [];
    for (const [size, subscriptions] of groups) {
      const rounds: { ratio: number; ours: number; single: number }[] = [];
      while (rounds.length < ROUNDS) {
        const single = await rateOf(rig, service, count, () =>
          fillQueue(stage.db, subscriptions, count),
        );
        const ours = await rateOf(rig, service, count, () =>
          publishMany(stage, subscriptions, count / size),
        );
        rounds.push({ ratio: ours / single, ours, single });
      }
      const { ratio, ours, single } = middleOf(rounds);
      const measured = `${inThousands(ours)} deliveries/s; events of one delivery each ${inThousands(single)}/s`;
      const goal = { must: 0.95, aim: 1, unit: "×" } as const;
      rows.push(atLeast(`fan-out to ${size}, deliveries`, goal, { value: ratio, measured }));
    }
    return rows;
  },
};

/** Returns the deliveries a second until `count` of them have arrived. */
async function rateOf(rig: Rig, service: Service, count: number, fill: () => Promise<void>) {
  const { process: receiver } = rig.receivers;
  await receiver.ask("reset", {});
  service.pause();
  await fill();
  service.resume();
  const began = performance.now();
  await receiver.ask("reached", count, 60_000);
  return (count * 1_000) / (performance.now() - began);
}

async function publishMany({ db }: Stage, subscriptions: readonly Subscription[], events: number) {
  const [one] = subscriptions;
  const organizationId = one?.partner.organizationId ?? "";
  const event = { organizationId, type: TEST_EVENT, data: TEST_EVENT_DATA };
  const clock = () => new Date();
  await db.begin(async (tx) => {
    for (let left = events; left > 0; left -= EVENTS_AT_ONCE) {
      const batch = Array.from({ length: Math.min(left, EVENTS_AT_ONCE) }, () => event);
      await publish({ clock }, tx, batch);
    }
  });
}
