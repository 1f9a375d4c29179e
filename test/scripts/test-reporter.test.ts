import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { ROOT } from "../support/root.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const REPORTER = `file://${join(ROOT, "scripts/test-reporter.js")}`;

/** Reports the outcome of these tests, which are in two files. */
async function report(t: TestContext, tests: string) {
  const folder = await aTemporaryFolder(t);
  const file = join(folder, "000.test.mjs");
  const outcomes = join(folder, "outcomes.json");
  await writeFile(
    file,
    `import { describe, test } from "node:test";
     describe("test/lib/good.test.ts", () => { test("passes", () => {}); });
     describe("test/http/tried.slow.test.ts", () => { ${tests} });`,
  );
  const { stdout, status } = spawnSync(
    process.execPath,
    ["--test", `--test-reporter=${REPORTER}`, file],
    {
      encoding: "utf8",
      env: {
        PATH: process.env["PATH"],
        TEST_REPORT: JSON.stringify({ notRun: ["not run: others"], outcomes }),
      },
    },
  );
  return {
    stdout,
    status,
    outcomes: JSON.parse(await readFile(outcomes, "utf8")) as Record<string, unknown>,
  };
}

test("a report says what did not run, and ends with the runner's summary", async (t) => {
  const { stdout, status, outcomes } = await report(t, 'test("one", { skip: "no Go" }, () => {});');
  assert.equal(status, 0);
  assert.match(stdout, /\nℹ not run: others\nℹ tests 2\n(ℹ [a-z]+ \d+\n)+ℹ duration_ms [\d.]+\n$/);
  assert.deepEqual(outcomes, {
    "test/lib/good.test.ts": { passed: true, skipped: 0 },
    "test/http/tried.slow.test.ts": { passed: true, skipped: 1 },
  });
});

test("a report ends with the commands that repeat each failed test alone", async (t) => {
  const { stdout, status, outcomes } = await report(
    t,
    `test("fails: isn't $1 (2)", () => { throw new Error("no"); });
     test("outer", async (t) => { await t.test("inner", () => { throw new Error("no"); }); });
     test("passes", () => {});`,
  );
  assert.equal(status, 1);
  const [, commands = ""] = stdout.split("to repeat each of them alone:\n\n");
  assert.deepEqual(commands.trimEnd().split("\n"), [
    'npm test -- http/tried.slow.test --test-name-pattern="fails: isn.t .1 .2."',
    'npm test -- http/tried.slow.test --test-name-pattern="outer"',
  ]);
  assert.deepEqual(outcomes["test/http/tried.slow.test.ts"], { passed: false, skipped: 0 });
});

test("a file that cannot be loaded is repeated as a whole", async (t) => {
  const { stdout, status, outcomes } = await report(t, 'throw new Error("damaged");');
  assert.equal(status, 1);
  assert.match(stdout, /alone:\n\nnpm test -- http\/tried\.slow\.test\n$/);
  assert.deepEqual(outcomes["test/http/tried.slow.test.ts"], { passed: false, skipped: 0 });
});
