import { bareLoop } from "./support/baselines.ts";
import { drain, requireDelivered } from "./support/deliveries.ts";
import { inThousands } from "./support/report.ts";
import type { Rig } from "./support/rig.ts";
import { atLeast, type Row } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";

const FAST_LOOP = 18_000;
/** As much as the bare loop has behind it when its best setting is measured. */
const WARM_UP = 50_000;

/** A backlog over a hundred subscriptions. */
export const drainHundred: Scenario = {
  name: "drain",
  run: async (rig) => {
    const { service, loop, measured } = await measure(rig, 100);
    const ratio = { value: service / loop, measured };
    const rate = { value: loop >= FAST_LOOP ? service : null, measured };
    return [
      atLeast("drain, 100 subscriptions", { must: 0.55, aim: 0.7, unit: "×" }, ratio),
      atLeast(
        "drain, where the loop reaches 18,000/s",
        { must: 10_000, aim: 10_000, unit: "/s" },
        rate,
      ),
    ];
  },
};

/** The same over five thousand: each has little waiting. */
export const drainThousands: Scenario = {
  name: "drain-5000",
  run: async (rig): Promise<Row[]> => {
    const { service, loop, measured } = await measure(rig, 5_000);
    const ratio = { value: service / loop, measured };
    return [atLeast("drain, 5,000 subscriptions", { must: 0.45, aim: 0.6, unit: "×" }, ratio)];
  },
};

async function measure(rig: Rig, subscriptions: number) {
  const [warmUp, count] = [rig.size(WARM_UP, 500), rig.size(50_000, 2_000)];
  const stage = await rig.stage(rig.receivers.urls(subscriptions));
  const { perSecond: loop, description } = await bareLoop(rig, stage.subscriptions);

  const service = await rig.service(stage, { ROLE: "dispatcher" });
  await drain(rig, stage, warmUp);
  const asked = await rig.receivers.names.ask("countQuestions");
  const perSecond = await drain(rig, stage, count);
  const lookups = ((await rig.receivers.names.ask("countQuestions")) - asked) / count;
  await requireDelivered(stage, warmUp + count);
  await service.stop();

  const questions = `${lookups.toFixed(2)} DNS questions each`;
  const measured = `${inThousands(perSecond)}/s, ${questions}; ${description}`;
  return { service: perSecond, loop, measured };
}
