import { parseArgs } from "node:util";
import { asProgram } from "../support/as-program.ts";
import { hitsOf } from "./balance.ts";
import { faultsOfRun, runLedger } from "./ledger.ts";
import { FULL, type Plan, SHORT } from "./plan.ts";
import { summarize } from "./summary.ts";

const SEEDS = 2 ** 31;

const { values: options } = parseArgs({
  options: {
    seed: { type: "string" },
    short: { type: "boolean", default: false },
    workers: { type: "string", default: "1" },
  },
});

const seed = Number(options.seed ?? Math.floor(Math.random() * SEEDS));
const workers = Number(options.workers);
const plan: Plan = { ...(options.short ? SHORT : FULL), seed, workers };
const repeat = [
  ...(options.short ? ["--short"] : []),
  ...(workers > 1 ? ["--workers", workers] : []),
];
console.log(["npm run test:ledger -- --seed", seed, ...repeat].join(" "));

await asProgram(async (signal) => {
  const began = performance.now();
  const faults = await faultsIn(signal);
  console.log(`${Math.round((performance.now() - began) / 1000)} s`);
  return faults;
});

async function faultsIn(signal: AbortSignal): Promise<string[]> {
  const run = await runLedger(plan, signal);
  console.log(summarize(plan, run));
  const faults = faultsOfRun(run);
  if (hitsOf(run.balance, "kill") === 0) faults.push("no kill hit an attempt in progress");
  if (run.publications.duplicates === 0) faults.push("no publisher lost an answer");
  if (faults.length > 0) faults.push(...run.harms.map((harm) => JSON.stringify(harm)));
  return faults;
}
