import type { Load } from "./processes/load.ts";
import type { Baseline } from "./support/baselines.ts";
import { compareRates, requireAnswered } from "./support/http.ts";
import { testRequests } from "./support/requests.ts";
import { atLeast } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";

const CONNECTIONS = 64;
const TURNS = 25;

/** Test calls without an Idempotency-Key, against a service that does not look for one, in turn. */
export const idempotency: Scenario = {
  name: "idempotency",
  run: async (rig) => {
    const stage = await rig.stage(rig.receivers.urls(100));
    const ours = await rig.service(stage, { ROLE: "api" });
    const other = await rig.service(stage, { ROLE: "api" }, "service-without-keys");
    const requests = testRequests(stage.subscriptions);

    const load = rig.child<Load>("load");
    const saturate = async (time: { warmUpMs: number; ms: number }) => {
      const target = { url: other.partnerUrl, requests, connections: CONNECTIONS };
      const { perSecond, ...answered } = await load.ask("saturate", { ...target, ...time });
      requireAnswered(answered);
      return perSecond;
    };
    await saturate({ warmUpMs: rig.size(2_000, 200), ms: 0 });
    const without: Baseline = {
      setting: "without looking for the header",
      measure: () => saturate({ warmUpMs: rig.size(200, 50), ms: rig.size(700, 100) }),
      close: () => load.end(),
    };
    const target = { url: ours.partnerUrl, requests };
    const { ratio, measured } = await compareRates(rig, target, without, rig.size(TURNS, 3));
    const goal = { must: 0.98, aim: 0.99, unit: "×" } as const;
    return [atLeast("accept without an Idempotency-Key", goal, { value: ratio, measured })];
  },
};
