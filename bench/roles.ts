import type { Load } from "./processes/load.ts";
import { Meter } from "./support/cost.ts";
import { requireAnswered } from "./support/http.ts";
import { EVENT_TYPES, publishRequests, subscribeToOrders } from "./support/publisher.ts";
import { atMost } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";
import { middleOf } from "./support/statistics.ts";

const CONNECTIONS = 32;
const ROUNDS = 11;
const TOKENS = {
  operate: "bench-token-of-an-operator-with-every-right",
  publish: "bench-token-of-a-service-that-only-publishes",
};
type Role = keyof typeof TOKENS;

interface Published {
  perSecond: number;
  /** For an event, of Node.js and PostgreSQL. */
  cpuMs: number;
}

interface Round {
  ratio: number;
  service: Published;
  operator: Published;
}

/** Publishes with the token of an operator, whose changes are recorded, and with that of a service, in turns. */
export const roles: Scenario = {
  name: "roles",
  run: async (rig) => {
    const stage = await rig.stage(rig.receivers.urls(100));
    await subscribeToOrders(stage.db);
    const ADMIN_TOKEN = Object.entries(TOKENS).map(([role, token]) => `${role}/${role}:${token}`);
    const env = { ADMIN_TOKEN: ADMIN_TOKEN.join(","), EVENT_TYPES, ROLE: "api" };
    const { pid, operatorUrl: url } = await rig.service(stage, env);
    const load = rig.child<Load>("load");

    const publishAs = async (role: Role, ms: number): Promise<Published> => {
      const requests = publishRequests(stage.subscriptions, TOKENS[role]);
      const meter = await Meter.open(stage.db, [pid]);
      const plan = { url, requests, connections: CONNECTIONS, warmUpMs: 0, ms };
      const { perSecond, ...answered } = await load.ask("saturate", plan);
      requireAnswered(answered);
      const { nodeMs, postgresMs } = await meter.read();
      return { perSecond, cpuMs: (nodeMs + (postgresMs ?? 0)) / answered.ok };
    };

    await publishAs("operate", rig.size(3_000, 200)); // Warm up.
    const rounds: Round[] = [];
    while (rounds.length < rig.size(ROUNDS, 2)) {
      const service = await publishAs("publish", rig.size(2_000, 200));
      const operator = await publishAs("operate", rig.size(2_000, 200));
      rounds.push({ ratio: operator.cpuMs / service.cpuMs, service, operator });
    }
    const { ratio, operator, service } = middleOf(rounds);
    const inWords = ({ perSecond, cpuMs }: Published) =>
      `${Math.round(perSecond)}/s with ${cpuMs.toFixed(2)} ms of CPU`;
    const measured = `${inWords(operator)}; role publish ${inWords(service)}`;
    const goal = { must: 1.05, aim: 1.02, unit: "×" } as const;
    return [
      atMost("CPU of publishing with role operate, to publish", goal, { value: ratio, measured }),
    ];
  },
};
