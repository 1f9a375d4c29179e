import { writeFile } from "node:fs/promises";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { SCENARIOS } from "./scenarios.ts";
import { describeMachine, tableOf } from "./support/report.ts";
import { openRig, type Rig } from "./support/rig.ts";
import { type Row, verdictOn } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";

const RESULTS = fileURLToPath(new URL("../../bench/results.json", import.meta.url));
const USUAL_LIMIT_MS = 15 * 60_000;
const LONG_LIMIT_MS = 35 * 60_000;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    long: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
    finished: { type: "string" },
    against: { type: "string" },
    profile: { type: "string" },
  },
});

const scenarios = chosen(positionals);
const end = endOfRun(
  scenarios.some(({ isLong = false }) => isLong) ? LONG_LIMIT_MS : USUAL_LIMIT_MS,
);
const rig = await openRig({
  databaseUrl: process.env["DATABASE_URL"] ?? null,
  quick: options.quick,
  finished: options.finished === undefined ? null : Number(options.finished),
  against: options.against ?? null,
  profileFolder: options.profile ?? null,
});
try {
  process.exitCode = await Promise.race([run(rig, scenarios), end]);
} finally {
  await rig.close();
}
process.exit(); // An aborted scenario may still wait for something.

/** Runs the scenarios one after the other and returns the exit status. */
async function run(rig: Rig, scenarios: Scenario[]): Promise<number> {
  const began = new Date();
  const rows: Row[] = [];
  let failures = 0;

  for (const { name, run } of scenarios) {
    const since = performance.now();
    try {
      rows.push(...(await run(rig)));
    } catch (error) {
      failures++;
      console.error(`${name}:`, error);
    } finally {
      await rig.clear();
    }
    console.error(`${name}: ${Math.round((performance.now() - since) / 1000)} s`);
  }

  const machine = describeMachine(rig.server);
  const verdicts = rows.map((row) => ({ ...row, verdict: verdictOn(row) }));
  const results = { began, quick: options.quick, machine, rows: verdicts };
  await writeFile(RESULTS, `${JSON.stringify(results, null, 2)}\n`);
  console.log(tableOf(rows));
  if (options.quick)
    console.log("A quick run only checks that the bench works. Ignore its figures.");

  const missed = verdicts.filter(({ verdict }) => verdict === "missed");
  return failures > 0 || (options.check && missed.length > 0) ? 1 : 0;
}

function chosen(names: string[]): Scenario[] {
  const unknown = names.filter((name) => SCENARIOS.every((scenario) => scenario.name !== name));
  if (unknown.length > 0) {
    const known = SCENARIOS.map(({ name }) => name).join(", ");
    throw new Error(`unknown scenario ${unknown.join(", ")}; known: ${known}`);
  }
  return SCENARIOS.filter(({ name, isLong = false }) =>
    names.length > 0 ? names.includes(name) : options.long || !isLong,
  );
}

/** Resolves to the exit status when a signal or the time limit ends the run early. */
function endOfRun(limitMs: number): Promise<number> {
  return new Promise((resolve) => {
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.on(name, () => {
        resolve(128 + constants.signals[name]);
      });
    }
    setTimeout(() => {
      console.error(`the bench took longer than ${limitMs / 60_000} minutes`);
      resolve(1);
    }, limitMs).unref();
  });
}
