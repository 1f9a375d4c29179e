import { bareLoop } from "./support/baselines.ts";
import { drain, requireDelivered } from "./support/deliveries.ts";
import { inTurn } from "./support/in-turn.ts";
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
    const { ratio, service, baseline, measured } = await measure(rig, 100);
    const rate = { value: baseline >= FAST_LOOP ? service : null, measured };
    return [
      atLeast(
        "drain, 100 subscriptions",
        { must: 0.55, aim: 0.7, unit: "×" },
        { value: ratio, measured },
      ),
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
    const { ratio, measured } = await measure(rig, 5_000);
    const goal = { must: 0.45, aim: 0.6, unit: "×" } as const;
    return [atLeast("drain, 5,000 subscriptions", goal, { value: ratio, measured })];
  },
};

async function measure(rig: Rig, subscriptions: number) {
  const [warmUp, count] = [rig.size(WARM_UP, 500), rig.size(50_000, 2_000)];
  const stage = await rig.stage(rig.receivers.urls(subscriptions));
  const loop = await bareLoop(rig, stage.subscriptions);

  const service = await rig.service(stage, { ROLE: "dispatcher" });
  await drain(rig, stage, warmUp);
  let delivered = warmUp;
  const asked = await rig.receivers.names.ask("countQuestions");
  const { measured, ...compared } = await inTurn(loop, async () => {
    const perSecond = await drain(rig, stage, count);
    delivered += count;
    await requireDelivered(stage, delivered);
    return perSecond;
  });
  const questions = (await rig.receivers.names.ask("countQuestions")) - asked;
  await service.stop();

  const each = (questions / (delivered - warmUp)).toFixed(2);
  return { ...compared, measured: `${measured}; ${each} DNS questions each` };
}
