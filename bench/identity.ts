import { compareWithRoute } from "./support/http.ts";
import { identityRequests } from "./support/requests.ts";
import { atLeast } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";

/** Identity checks by a hundred organizations with one key each. */
export const identity: Scenario = {
  name: "identity",
  run: async (rig) => {
    const stage = await rig.stage(rig.receivers.urls(100));
    const service = await rig.service(stage, { ROLE: "api" });
    const requests = identityRequests(stage.subscriptions);
    const { ratio, measured } = await compareWithRoute(rig, service, requests);
    return [atLeast("identity", { must: 0.3, aim: 0.5, unit: "×" }, { value: ratio, measured })];
  },
};
