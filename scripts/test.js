import "../bin/node-version.js";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundle } from "./bundles.js";
import { compiledTests } from "./compile.js";
import { makeReady, ROOT } from "./ready.js";
import { isSecond, needsDatabase, notePassed, sourceOf, unchangedSincePassed } from "./rings.js";

await makeReady({ dev: true });
const { runOnDatabase } = await import("./on-database.js");

const RINGS = ["--first", "--second", "--all"];
const args = process.argv.slice(2);
const passedOn = args.filter((arg) => arg.startsWith("--test-"));
const wanted = args.filter((arg) => !arg.startsWith("--"));
const long = args.includes("--long");
const ring = RINGS.find((one) => args.includes(one)) ?? (wanted.length > 0 ? "--all" : "--first");

const matching = compiledTests(ROOT, { long }).filter(
  (path) => wanted.length === 0 || wanted.some((part) => path.includes(part)),
);
const inRing = matching.filter(
  (path) => ring === "--all" || isSecond(path) === (ring === "--second"),
);
const unchanged =
  wanted.length > 0 || args.includes("--everything")
    ? []
    : unchangedSincePassed(ROOT, inRing.filter(isSecond));
const files = inRing.filter((path) => !unchanged.includes(path));
if (inRing.length === 0) {
  console.error(`no test file path contains ${wanted.join(" or ")}`);
  process.exit(1);
}

if (files.length === 0) {
  for (const line of [...notRun(), "tests 0", "pass 0", "fail 0"]) console.log(`ℹ ${line}`);
  process.exit();
}

const folder = await mkdtemp(join(tmpdir(), "partner-api-test-run-"));
try {
  const outcomes = join(folder, "outcomes.json");
  process.env.TEST_REPORT = JSON.stringify({ notRun: notRun(), outcomes });
  const options = [
    `--test-reporter=${new URL("test-reporter.js", import.meta.url).href}`,
    "--test-concurrency=4", // For two cores: tests also wait for time limits, and for PostgreSQL.
    "--test-timeout=1800000", // Of a process. Each test has its own limit.
  ];
  const entries = await bundle(files, { folder, timeoutMs: long ? 1_800_000 : 300_000 });
  process.exitCode = await runOnDatabase(["--test", ...options, ...passedOn, ...entries], {
    needsDatabase: files.some((path) => needsDatabase(ROOT, path)),
  });
  const isEnded = process.exitCode > 128;
  if (passedOn.length === 0 && !isEnded) notePassedIn(JSON.parse(await readFile(outcomes, "utf8")));
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** What this run leaves out, and how to run it. */
function notRun() {
  const others = wanted.length > 0 ? [] : matching.filter((path) => !inRing.includes(path));
  return [
    ...unchanged.map(
      (path) => `skipped: ${sourceOf(path)}: nothing it depends on has changed since it passed`,
    ),
    ...(unchanged.length > 0 ? ["to run these too: npm run test:all -- --everything"] : []),
    ...(others.length > 0 && ring === "--first"
      ? [
          `not run: ${others.length} slow test files (*.slow.test.ts), the second ring: npm run test:all runs both rings`,
        ]
      : []),
    ...(long || wanted.length > 0
      ? []
      : ["not run: tests that take minutes (*.long.ts): npm run test:long"]),
  ];
}

/** A file with skipped tests has not passed. In CI nobody commits the note. */
function notePassedIn(outcomes) {
  const passed = files
    .filter(isSecond)
    .map(sourceOf)
    .filter((source) => outcomes[source]?.passed && outcomes[source].skipped === 0);
  if (passed.length > 0 && !process.env.CI) notePassed(ROOT, passed);
}
