import { constants } from "node:os";
import { parseArgs } from "node:util";
import { faultsOf, hitsOf } from "./balance.ts";
import { runLedger } from "./ledger.ts";
import { FULL, SHORT } from "./plan.ts";
import { summarize } from "./summary.ts";

const FAULTS_SHOWN = 20;
const SEEDS = 2 ** 31;

const { values: options } = parseArgs({
  options: { seed: { type: "string" }, short: { type: "boolean", default: false } },
});

const seed = Number(options.seed ?? Math.floor(Math.random() * SEEDS));
const plan = { ...(options.short ? SHORT : FULL), seed };
console.log(`npm run test:ledger -- --seed ${seed}${options.short ? " --short" : ""}`);

const stop = new AbortController();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(name, () => {
    process.exitCode = 128 + constants.signals[name];
    stop.abort(new Error(`ended by ${name}`));
  });
}

try {
  const began = performance.now();
  const run = await runLedger(plan, stop.signal);
  console.log(summarize(plan, run));
  console.log(`${Math.round((performance.now() - began) / 1000)} s`);
  const faults = [...faultsOf(run.balance), ...run.misPublished, ...run.errors];
  if (hitsOf(run.balance, "kill") === 0) faults.push("no kill hit an attempt in progress");
  if (run.publications.duplicates === 0) faults.push("no publisher lost an answer");
  for (const fault of faults.slice(0, FAULTS_SHOWN)) console.log(fault);
  if (faults.length > 0) console.log(run.harms.map((harm) => JSON.stringify(harm)).join("\n"));
  process.exitCode = faults.length === 0 ? 0 : 1;
} catch (error) {
  console.error(error);
  process.exitCode ??= 1;
}
process.exit(); // An aborted run may still wait for something.
