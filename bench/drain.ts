import { bareLoop, FEW_AT_ONCE } from "./support/baselines.ts";
import { drain, requireDelivered } from "./support/deliveries.ts";
import { fillQueue } from "./support/queue.ts";
import { inThousands } from "./support/report.ts";
import type { Rig } from "./support/rig.ts";
import { atLeast, type Row } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";
import { perSecond, type Turn, turnOf } from "./support/turn.ts";

const FAST_LOOP = 18_000;
/** Until the code is compiled and the connections are open. */
const WARM_UP = 30_000;
const ROUNDS = 2;
const TURN_MS = 1_000;
/** Concurrent attempts of the service and posts of the loop. */
const AT_ONCE = 256;

/** A backlog of a hundred subscriptions. */
export const drainHundred: Scenario = {
  name: "drain",
  run: async (rig) => {
    const { ratio, service, fastest, measured } = await measure(rig, 100);
    const rate = { value: fastest >= FAST_LOOP ? service : null, measured };
    return [
      atLeast(
        "drain, 100 subscriptions",
        { must: 0.55, aim: 0.75, unit: "×" },
        { value: ratio, measured },
      ),
      atLeast(
        "drain, if the loop reaches 18,000/s",
        { must: 10_000, aim: 10_000, unit: "/s" },
        rate,
      ),
    ];
  },
};

/** A backlog of five thousand subscriptions, each with a short queue. */
export const drainThousands: Scenario = {
  name: "drain-5000",
  run: async (rig): Promise<Row[]> => {
    const { ratio, measured } = await measure(rig, 5_000);
    const goal = { must: 0.45, aim: 0.65, unit: "×" } as const;
    return [atLeast("drain, 5,000 subscriptions", goal, { value: ratio, measured })];
  },
};

/** The loop and the service alternate every second, so that changes in the machine's speed affect both. */
async function measure(rig: Rig, subscriptions: number) {
  const [warmUp, count] = [rig.size(WARM_UP, 500), rig.size(50_000, 2_000)];
  const stage = await rig.stage(rig.receivers.urls(subscriptions));
  const loop = await bareLoop(rig, stage.subscriptions, AT_ONCE);
  const service = await rig.service(stage, {
    ROLE: "dispatcher",
    DISPATCH_CONCURRENCY: `${AT_ONCE}`,
  });
  await drain(rig, stage, warmUp);

  const asked = await rig.receivers.names.ask("countQuestions");
  const turns = { loop: [] as Turn[], service: [] as Turn[] };
  for (let round = 1; round <= ROUNDS; round++) {
    service.pause();
    await fillQueue(stage.db, stage.subscriptions, count);
    for (let left = count; left > 0;) {
      turns.loop.push(await turnOf(rig, loop, TURN_MS));
      const turn = await turnOf(rig, service, TURN_MS);
      turns.service.push(turn);
      left = turn.requests === 0 ? 0 : left - turn.requests;
    }
    service.resume();
    await requireDelivered(stage, warmUp + round * count);
  }
  const questions = (await rig.receivers.names.ask("countQuestions")) - asked;
  await service.stop();
  await loop.close();

  const [rate, baseline] = [perSecond(turns.service), perSecond(turns.loop)];
  const each = (questions / (ROUNDS * count)).toFixed(2);
  const ofFew = `${(rate / loop.ofFew).toFixed(2)} of ${inThousands(loop.ofFew)}/s with ${FEW_AT_ONCE} concurrent posts`;
  const measured = `${inThousands(rate)}/s; ${loop.setting} ${inThousands(baseline)}/s (alone ${loop.alone}); ${ofFew}; ${each} DNS queries each`;
  return {
    ratio: rate / baseline,
    service: rate,
    fastest: Math.max(baseline, loop.ofFew),
    measured,
  };
}
