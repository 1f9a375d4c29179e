import { test } from "node:test";
import fc from "fast-check";
import { createDatabase } from "../support/database.ts";
import { simulate, type Tally } from "./simulate.ts";
import { shrink } from "./shrink.ts";
import { type Step, type Story, story } from "./steps.ts";

const LANES = 3;

/** Adds a test that runs `count` seeds from `first` on. */
export function testSeeds(first: number, count: number): void {
  test(`the contract holds after every step: ${count} seeds from ${first} on`, async (t) => {
    const databases = await Promise.all(
      Array.from({ length: Math.min(LANES, count) }, () => createDatabase({ max: 4 })),
    );
    const total: Tally = { events: 0, deliveries: 0, sent: 0, failures: 0, disabled: 0 };
    let next = first;
    await Promise.all(
      databases.map(async (db) => {
        while (next < first + count)
          await runSeed(next++, async (one) => add(await simulate(db, one)));
      }),
    );
    t.diagnostic(`seeds ${first} to ${first + count - 1}: ${JSON.stringify(total)}`);

    function add(tally: Tally): void {
      for (const name of Object.keys(total) as (keyof Tally)[]) total[name] += tally[name];
    }
  });
}

/** Runs one story per seed. Shrinks and shows a story that breaks the contract. */
async function runSeed(seed: number, tell: (story: Story) => Promise<void>): Promise<void> {
  const [whole] = fc.sample(story, { seed, numRuns: 1, unbiased: true });
  let fault = new Error();
  const fails = async (steps: Step[]) => {
    try {
      if (whole) await tell({ ...whole, steps });
      return false;
    } catch (error) {
      fault = error as Error;
      return true;
    }
  };
  if (whole === undefined || !(await fails(whole.steps))) return;

  const { steps, ...given } = { ...whole, steps: await shrink(whole.steps, fails) };
  const told = [given, ...steps].map((one) => JSON.stringify(one));
  const replay = `npm run test:simulation -- --seed ${seed}`;
  throw new Error([fault.message, ...told, replay].join("\n"), { cause: fault });
}
