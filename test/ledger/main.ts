import { parseArgs } from "node:util";
import { asProgram } from "../support/as-program.ts";
import { hitsOf } from "./balance.ts";
import { faultsOfRun, runLedger } from "./ledger.ts";
import { faultsOfP99, percentile } from "./neighbours.ts";
import { FULL, FULL_SHARDS, type Plan, SHORT, SHORT_SHARDS } from "./plan.ts";
import { openShardServers } from "./shard-servers.ts";
import { summarize } from "./summary.ts";

const SEEDS = 2 ** 31;

const { values: options } = parseArgs({
  options: {
    seed: { type: "string" },
    short: { type: "boolean", default: false },
    shards: { type: "string" },
    p99: { type: "boolean", default: false },
  },
});

const seed = Number(options.seed ?? Math.floor(Math.random() * SEEDS));
const shards = Number(options.shards ?? 1);
const sizes = shards > 1 ? [SHORT_SHARDS, FULL_SHARDS] : [SHORT, FULL];
const plan: Plan = { ...(sizes[options.short ? 0 : 1] ?? FULL), seed };
const repeat = [
  ...(options.short ? ["--short"] : []),
  ...(shards > 1 ? ["--shards", shards] : []),
  ...(options.p99 ? ["--p99"] : []),
];
console.log(["npm run test:ledger -- --seed", seed, ...repeat].join(" "));

await asProgram(async (signal) => {
  const began = performance.now();
  const faults = await (shards > 1 ? ofShards(signal) : ofOneDatabase(signal));
  console.log(`${Math.round((performance.now() - began) / 1000)} s`);
  return faults;
});

async function ofOneDatabase(signal: AbortSignal): Promise<string[]> {
  const run = await runLedger(plan, signal);
  console.log(summarize(plan, run));
  const faults = faultsOfRun(run);
  if (hitsOf(run.balance, "kill") === 0) faults.push("no kill hit an attempt in progress");
  if (run.publications.duplicates === 0) faults.push("no publisher lost an answer");
  if (faults.length > 0) faults.push(...run.harms.map((harm) => JSON.stringify(harm)));
  return faults;
}

/** The same load without a kill and with kills of one server. The organizations of the other server are compared; their p99 is judged with `--p99`. */
async function ofShards(signal: AbortSignal): Promise<string[]> {
  const faults: string[] = [];
  const p99: number[] = [];
  for (const databaseKills of [0, plan.databaseKills]) {
    const run = await runLedger({ ...plan, databaseKills }, signal, (afterwards, folder) =>
      openShardServers(afterwards, folder, { count: shards, victim: seed % 2 }),
    );
    console.log(summarize(plan, run));
    faults.push(...faultsOfRun(run));
    p99.push(percentile(run.neighbours.receivedMs, 0.99));
  }
  const [calm = NaN, harmed = NaN] = p99;
  console.log(`p99 with kills of the other server: ${(harmed / calm).toFixed(2)} × that without`);
  if (options.p99) faults.push(...faultsOfP99({ calm, harmed }));
  return faults;
}
