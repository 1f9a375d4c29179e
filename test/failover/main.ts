import { parseArgs } from "node:util";
import { asProgram } from "../support/as-program.ts";
import { summarize } from "../ledger/summary.ts";
import { type Fault, FAULTS, UNFENCED } from "./cluster.ts";
import { FULL, runFailover, SHORT, slowOf, whatIsPossible, withFaults } from "./failover.ts";

const { values: options } = parseArgs({
  options: {
    seed: { type: "string" },
    short: { type: "boolean", default: false },
    faults: { type: "string" },
    haproxy: { type: "boolean", default: false },
  },
});
const seed = Number(options.seed ?? Math.floor(Math.random() * 2 ** 31));
const wanted = { ...(options.short ? SHORT : FULL), isBehindHaproxy: options.haproxy };
const size = options.faults
  ? withFaults(wanted, readFaults(options.faults))
  : await whatIsPossible(wanted);
console.log(`npm run test:failover -- --seed ${seed} --faults ${size.faults.join()}`);

await asProgram(async (signal) => {
  const { run, failovers, complaints } = await runFailover(size, seed, signal);
  complaints.push(...slowOf(failovers));
  console.log(summarize({ ...size.plan, seed }, run));
  for (const { fault, awayMs, recoveryMs } of failovers) {
    console.log(
      `${fault.padEnd(10)}  new after ${awayMs} ms, a request succeeded ${recoveryMs} ms later`,
    );
  }
  return complaints;
});

function readFaults(text: string): Fault[] {
  return text.split(",").map((name) => {
    const known: readonly Fault[] = [...FAULTS, UNFENCED];
    const fault = known.find((one) => one === name);
    if (fault === undefined) throw new Error(`${name} is none of the faults ${FAULTS.join()}`);
    return fault;
  });
}
