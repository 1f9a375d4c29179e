import { parseArgs } from "node:util";
import { testSeeds } from "./seeds.ts";

const { values: options } = parseArgs({
  options: { seeds: { type: "string" }, seed: { type: "string" } },
});

/** `simulation.slow.test.ts` goes on after them. */
const SEEDS = 30;

/**
 * `--seeds 5000` runs that many seeds. `--seed 123` runs only that one. Both together run that many seeds,
 * beginning with that one.
 */
const first = Number(options.seed ?? 1);
testSeeds(first, Number(options.seeds ?? (options.seed === undefined ? SEEDS : 1)));
