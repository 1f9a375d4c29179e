import { drain, requireDelivered } from "./deliveries.ts";
import { fillQueue } from "./queue.ts";
import { inThousands } from "./report.ts";
import type { Rig } from "./rig.ts";
import type { Measurement } from "./row.ts";
import { median } from "./statistics.ts";
import { perSecond, turnOf } from "./turn.ts";

const SUBSCRIPTIONS = 1_000;
const WARM_UP = 20_000;
const ROUNDS = 5;
/** Longer than the time between two writes of the activity. */
const TURN_MS = 6_000;
const BACKLOG_MAX = 20_000 * ((TURN_MS * (ROUNDS + 1)) / 1_000);

/** A dispatcher: its environment, and a file of `processes/` if it is not the service as it is. */
export interface Variant {
  env?: Record<string, string>;
  program?: string;
}

/** Lets dispatchers drain in turns, each on its own database. Returns the rates of each, round by round. */
export async function drainInTurns<Name extends string>(
  rig: Rig,
  variants: Record<Name, Variant>,
): Promise<Record<Name, number[]>> {
  const opened = [];
  for (const [name, { env, program }] of Object.entries<Variant>(variants)) {
    const stage = await rig.stage(rig.receivers.urls(SUBSCRIPTIONS));
    const service = await rig.service(stage, { ROLE: "dispatcher", ...env }, program);
    await drain(rig, stage, rig.size(WARM_UP, 500));
    await requireDelivered(stage, rig.size(WARM_UP, 500));
    service.pause();
    await fillQueue(stage.db, stage.subscriptions, rig.size(BACKLOG_MAX, 5_000));
    opened.push({ name, service, rates: [] as number[] });
  }
  const ms = rig.size(TURN_MS, 300);
  for (let round = 0; round <= rig.size(ROUNDS, 2); round++) {
    for (const { service, rates } of opened) {
      const rate = perSecond([await turnOf(rig, service, ms)]);
      // The first turn may end before the service has noticed the backlog.
      if (round > 0) rates.push(rate);
    }
  }
  return Object.fromEntries(opened.map(({ name, rates }) => [name, rates])) as Record<
    Name,
    number[]
  >;
}

/** The median of the ratios of the rounds. */
export function compareRounds(rates: number[], base: number[], name: string): Measurement {
  const ratios = rates.map((rate, round) => rate / (base[round] ?? NaN));
  const turns = ratios.map((ratio) => ratio.toFixed(2)).join(", ");
  return {
    value: median(ratios),
    measured: `${inThousands(median(rates))}/s; ${name} ${inThousands(median(base))}/s; turns ${turns}`,
  };
}
