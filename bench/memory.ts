import { setTimeout as sleep } from "node:timers/promises";
import { drain } from "./support/deliveries.ts";
import { memoryOf } from "./support/memory.ts";
import { atMost } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";

const IDLE_MS = 5_000;

/**
 * Resident set size of the service, idle and at work. `growth` measures it with a million waiting
 * deliveries.
 */
export const memory: Scenario = {
  name: "memory",
  run: async (rig) => {
    const stage = await rig.stage(rig.receivers.urls(100));
    const service = await rig.service(stage, {}, null);
    await sleep(IDLE_MS);
    const idle = await memoryOf(service.pid);
    await drain(rig, stage, rig.size(50_000, 1_000));
    const draining = await memoryOf(service.pid);

    return [
      atMost(
        "memory, idle",
        { must: 150, aim: 100, unit: "MB" },
        { value: idle?.nowMb ?? null, measured: "resident set size, five seconds after the start" },
      ),
      atMost(
        "memory, during the drain",
        { must: 300, aim: 200, unit: "MB" },
        {
          value: draining?.peakMb ?? null,
          measured: "resident set size, maximum since the start",
        },
      ),
    ];
  },
};
