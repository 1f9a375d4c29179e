import { writeFileSync } from "node:fs";
import { Readable } from "node:stream";
import { spec } from "node:test/reporters";

const { notRun = [], outcomes } = JSON.parse(process.env.TEST_REPORT ?? "{}");
const SUMMARY_BEGINS = /^tests \d+$/;

/**
 * The runner's own report. Before its summary it says what did not run, and after a failure how to repeat each failed test alone.
 * Writes the outcome of each file to `outcomes`.
 */
export default async function* report(source) {
  const files = new Map();
  const failed = [];
  yield* Readable.from(watched()).pipe(new spec());
  if (outcomes) writeFileSync(outcomes, JSON.stringify(Object.fromEntries(files)));
  if (failed.length > 0) yield `\nto repeat each of them alone:\n\n${unique(failed).join("\n")}\n`;

  async function* watched() {
    const open = []; // The file and the tests that are being reported, the innermost last.
    for await (const event of source) {
      const { type, data } = event;
      if (type === "test:start") {
        open.length = data.nesting;
        open.push(data.name);
      } else if (type === "test:pass" || type === "test:fail") {
        noteOutcome(files, open[0], event);
        if (type === "test:fail" && !isSuite(data)) failed.push(commandOf(open));
      } else if (isSummary(event)) {
        for (const message of notRun.splice(0)) yield { type, data: { nesting: 0, message } };
      }
      yield event;
    }
  }
}

function isSummary({ type, data }) {
  return type === "test:diagnostic" && data.nesting === 0 && SUMMARY_BEGINS.test(data.message);
}

/** A file is a suite. It fails with its tests, and by itself if it cannot be loaded. */
function isSuite({ nesting, details }) {
  return nesting === 0 && details.error?.failureType === "subtestsFailed";
}

function noteOutcome(files, file, { type, data }) {
  const outcome = files.get(file) ?? { passed: true, skipped: 0 };
  if (type === "test:fail") outcome.passed = false;
  if (data.skip !== undefined) outcome.skipped++;
  files.set(file, outcome);
}

/** A part of a test runs with the whole test. Characters that the shell or the pattern would interpret stand for any. */
function commandOf([file, name]) {
  const path = file.replace(/^test\//, "").replace(/\.ts$/, "");
  if (name === undefined) return `npm test -- ${path}`;
  const pattern = name.replace(/[^\w ,:;=/@%-]/g, ".");
  return `npm test -- ${path} --test-name-pattern="${pattern}"`;
}

function unique(all) {
  return [...new Set(all)];
}
