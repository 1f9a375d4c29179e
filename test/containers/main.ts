import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Afterwards } from "../ledger/afterwards.ts";
import { asProgram } from "../support/as-program.ts";
import { tryCells } from "./cells.ts";
import { tryCompose } from "./compose.ts";
import { startEngine } from "./engine.ts";
import { makeImages } from "./images.ts";
import type { Outcome } from "./trial.ts";

const TRIALS = { compose: tryCompose, cells: tryCells };
const names = Object.keys(TRIALS) as (keyof typeof TRIALS)[];
/** `-- cells` runs one of them, and `-- --from <commit>` upgrades from another commit than the last release. */
const { values, positionals } = parseArgs({
  ...{ options: { from: { type: "string" } }, allowPositionals: true },
});
const wanted = names.filter((name) => positionals.length === 0 || positionals.includes(name));

await asProgram(async (signal) => {
  const afterwards = new Afterwards();
  const outcomes: Outcome[] = [];
  try {
    const folder = await mkdtemp(join(tmpdir(), "partner-api-containers-"));
    afterwards.after(() => rm(folder, { recursive: true, force: true }));
    const run = await startEngine(afterwards, folder);
    console.log(await run("docker", ["version", "--format", "engine {{.Server.Version}}"]));
    console.log(await run("docker", ["compose", "version"]));
    await makeImages(run, folder);
    const given = { run, from: values.from ?? null, folder, afterwards, signal, tell };
    for (const name of wanted) await TRIALS[name](given);
  } finally {
    await afterwards.run();
  }
  return outcomes
    .filter(({ fault }) => fault !== null)
    .map(({ name, fault }) => `${name}: ${fault}`);

  function tell(outcome: Outcome): void {
    outcomes.push(outcome);
    const { name, requests, failed, lost, seconds } = outcome;
    console.log(
      [
        name.padEnd(44),
        `${requests} requests, ${failed} failed, ${lost} lost, ${seconds.toFixed(1)} s`,
      ].join(" "),
    );
  }
});
