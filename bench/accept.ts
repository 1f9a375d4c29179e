import { countDeliveries } from "./support/queue.ts";
import { compareWithRoute } from "./support/http.ts";
import { testRequests } from "./support/requests.ts";
import { atLeast } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";

/** Test calls. Each gets its response when its event is durable. Nothing is delivered meanwhile. */
export const accept: Scenario = {
  name: "accept",
  run: async (rig) => {
    const stage = await rig.stage(rig.receivers.urls(100));
    const service = await rig.service(stage, { ROLE: "api" });
    const requests = testRequests(stage.subscriptions);
    const { ok, ratio, measured } = await compareWithRoute(rig, service, requests);

    const { waiting } = await countDeliveries(stage.db);
    if (waiting !== ok) throw new Error(`${ok} events were accepted, but ${waiting} are stored`);
    return [atLeast("accept", { must: 0.2, aim: 0.35, unit: "×" }, { value: ratio, measured })];
  },
};
