import type { Baseline } from "./baselines.ts";
import { inThousands } from "./report.ts";
import { middleOf } from "./statistics.ts";

const ROUNDS = 11;

export interface Compared {
  /** Service to baseline. */
  ratio: number;
  /** Both a second. */
  service: number;
  baseline: number;
  measured: string;
}

/**
 * Measures the baseline and the service alternately and returns the round with the median ratio, so
 * that changes in the machine's speed affect both.
 */
export async function inTurn(
  baseline: Baseline,
  measureService: () => Promise<number>,
  turns = ROUNDS,
): Promise<Compared> {
  const rounds: Omit<Compared, "measured">[] = [];
  while (rounds.length < turns) {
    const bare = await baseline.measure();
    const service = await measureService();
    rounds.push({ ratio: service / bare, service, baseline: bare });
  }
  await baseline.close();

  const middle = middleOf(rounds);
  const ratios = rounds.map(({ ratio }) => ratio);
  const range = `from ${Math.min(...ratios).toFixed(3)} to ${Math.max(...ratios).toFixed(3)}`;
  const rates = `${inThousands(middle.service)}/s; ${baseline.setting} ${inThousands(middle.baseline)}/s`;
  return { ...middle, measured: `${rates}; of ${turns} turns ${range}` };
}
