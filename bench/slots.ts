import { setTimeout as sleep } from "node:timers/promises";
import { memoryOf } from "./support/memory.ts";
import { fillQueue } from "./support/queue.ts";
import { atMost } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";

/** Attempts that begin to wait before each of two measurements. */
const WAITING = 500;
const SETTLE_MS = 5_000;
const LIMIT_MS = 120_000;

/** The memory of attempts that wait for their answers: TLS sockets, claims and their data. */
export const slots: Scenario = {
  name: "slots",
  run: async (rig) => {
    const stage = await rig.stage(rig.receivers.urls(200, "/after/100000"));
    const service = await rig.service(stage, {
      ROLE: "dispatcher",
      ATTEMPT_TIMEOUT: "4m",
      DISPATCH_CONCURRENCY: "4000",
    });
    await rig.receivers.process.ask("reset", {});
    const count = rig.size(WAITING, 50);
    const peaks: number[] = [];
    for (const waiting of [count, 2 * count]) {
      await fillQueue(stage.db, stage.subscriptions, count);
      await rig.receivers.process.ask("reached", waiting, LIMIT_MS);
      await sleep(rig.size(SETTLE_MS, 100));
      peaks.push((await memoryOf(service.pid))?.nowMb ?? NaN);
    }
    const [few = NaN, many = NaN] = peaks;
    const value = ((many - few) * 1_000) / count;
    const row = atMost(
      "memory, 1,000 attempts that wait",
      { must: 150, aim: 100, unit: "MB" },
      {
        value: Number.isNaN(value) ? null : value,
        measured: `${Math.round(few)} MB with ${count}, ${Math.round(many)} MB with ${2 * count}`,
      },
    );
    return [row];
  },
};
