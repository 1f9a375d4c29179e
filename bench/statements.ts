import { setTimeout as sleep } from "node:timers/promises";
import type { Load } from "./processes/load.ts";
import { requireAnswered } from "./support/http.ts";
import { arrivalOf, latenciesOf } from "./support/latency.ts";
import { testRequests } from "./support/requests.ts";
import type { Rig, Stage } from "./support/rig.ts";
import { atMost } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";
import type { Service } from "./support/service.ts";
import { countStatements, watchStatements } from "./support/statements.ts";

/** Long enough to record the last outcomes. */
const RECORDED_MS = 1_000;

const UNDER_LOAD = { must: 0.1, aim: 0.05, unit: "" } as const;
const ALONE = { must: 6, aim: 4, unit: "" } as const;

/** SQL statements per event, from the request to the recorded outcome. */
export const statements: Scenario = {
  name: "statements",
  run: async (rig) => {
    const stage = await rig.stage(rig.receivers.urls(100));
    const isWatched = await watchStatements(stage.db);
    const unknown = { value: null, measured: "the server does not load pg_stat_statements" };
    const service = isWatched ? await rig.service(stage) : null;
    return [
      atMost(
        "statements per event, under load",
        UNDER_LOAD,
        service ? await underLoad(rig, stage, service) : unknown,
      ),
      atMost(
        "statements per event, single",
        ALONE,
        service ? await alone(rig, stage, service) : unknown,
      ),
    ];
  },
};

async function underLoad(rig: Rig, stage: Stage, service: Service) {
  const load = rig.child<Load>("load");
  const { all, events } = await during(stage, async () => {
    await rig.receivers.process.ask("reset", {});
    const answered = await load.ask("saturate", {
      url: service.partnerUrl,
      requests: testRequests(stage.subscriptions),
      connections: 256,
      warmUpMs: 0,
      ms: rig.size(5_000, 500),
    });
    requireAnswered(answered);
    await arrivalOf(rig, answered.ok);
    return answered.ok;
  });
  return { value: all / events, measured: `${all} statements for ${events} events` };
}

/** Without the statements of polling, which are measured while idle. */
async function alone(rig: Rig, stage: Stage, service: Service) {
  const ms = rig.size(6_000, 1_000);
  const began = performance.now();
  const { all, events } = await during(stage, async () => {
    const offer = { perSecond: 5, warmUpMs: 0, ms };
    return (await latenciesOf(rig, service, stage.subscriptions, offer)).length;
  });
  const tookMs = performance.now() - began;
  const silence = await during(stage, () => sleep(tookMs - RECORDED_MS, 0));

  const polls = (silence.all / tookMs) * 1000;
  const measured = `${all} statements for ${events} events, and ${polls.toFixed(1)} a second from polling`;
  return { value: (all - silence.all) / events, measured };
}

async function during(
  { db }: Stage,
  work: () => Promise<number>,
): Promise<{ all: number; events: number }> {
  const before = await countStatements(db);
  const events = await work();
  await sleep(RECORDED_MS);
  return { all: (await countStatements(db)) - before - 1, events };
}
