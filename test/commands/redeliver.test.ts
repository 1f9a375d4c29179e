import assert from "node:assert/strict";
import { test } from "node:test";
import { momentOf } from "../../src/commands/output.ts";
import { progressLine } from "../../src/subjects/redeliveries/commands.ts";
import type { RedeliveryPreview, RedeliveryView } from "../../src/subjects/redeliveries/work.ts";
import { createCommandLine } from "../support/command-line.ts";
import { acknowledged } from "../support/engine.ts";
import { createRedeliveries, wh } from "../support/redeliveries.ts";

const { deps, clock, deliverDue, deadLetters, runAll } = await createRedeliveries();
const { run, json } = createCommandLine(deps, { clock });

/** Runs jobs until a command ends. */
async function whileRunning(command: Promise<unknown>): Promise<void> {
  const running = new Set([command]);
  void command.finally(() => running.clear());
  while (running.size > 0) {
    await runAll();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("a span is a time before now, and any other text stays as it is", () => {
  const now = new Date("2026-02-01T00:00:00Z");
  for (const [text, moment] of [
    ["1h", "2026-01-31T23:00:00.000Z"],
    ["90m", "2026-01-31T22:30:00.000Z"],
    ["7d", "2026-01-25T00:00:00.000Z"],
    ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"],
    ["yesterday", "yesterday"],
    ["999999999d", "999999999d"],
    [undefined, undefined],
  ] as const) {
    assert.equal(momentOf(text, now), moment);
  }
});

test("deliveries of the last hour are listed", async () => {
  const subscription = await deadLetters(2);
  clock.advance(2 * 3_600_000);
  const list = async (since: string) =>
    (
      await json<{ items: object[] }>(
        "delivery",
        "list",
        "--since",
        since,
        "--subscription",
        wh(subscription),
      )
    ).items.length;
  assert.deepEqual([await list("1h"), await list("3h")], [0, 2]);
  assert.equal((await run("delivery", "list", "--since", "yesterday")).status, 1);
});

test("a dry run counts the matches and shows the newest", async () => {
  const subscription = await deadLetters(3);
  const options = ["--subscription", wh(subscription), "--dry-run"];
  const { stdout } = await run("delivery", "redeliver", ...options);
  assert.match(
    stdout,
    /^Deliveries that match: 3\. Already redelivered and therefore skipped: 0\./,
  );
  assert.equal(stdout.match(/^dlv_/gm)?.length, 3);
  const preview = await json<RedeliveryPreview>("delivery", "redeliver", ...options);
  assert.equal(preview.count, 3);
  assert.equal(await deliverDue(() => acknowledged), 0);
});

test("many deliveries are redelivered by filters, with or without waiting", async () => {
  const subscription = await deadLetters(4);
  const filters = ["--subscription", wh(subscription), "--state", "dead_lettered", "--since", "1h"];
  const job = await json<RedeliveryView>("delivery", "redeliver", ...filters, "--rate", "1000");
  assert.deepEqual([job.state, job.total, job.rate_per_second], ["queued", 4, 1000]);
  await runAll();
  assert.equal(await deliverDue(() => acknowledged), 4);

  const waiting = json<RedeliveryView>("delivery", "redeliver", ...filters, "--wait");
  await whileRunning(waiting);
  assert.deepEqual([(await waiting).state, (await waiting).skipped], ["finished", 4]);
});

test("a terminal shows the progress", async () => {
  const subscription = await deadLetters(2);
  const terminal = createCommandLine(deps, { clock, isTerminal: true });
  const shown = terminal.run("delivery", "redeliver", "--subscription", wh(subscription));
  await whileRunning(shown);
  const { stdout, status } = await shown;
  assert.equal(status, 0);
  assert.match(stdout, /\r\[#{30}\] 100% {2}2 of 2 sent, 0 skipped, 0 failed, finished/);
  assert.match(stdout, /\nRedelivery rdl_\S+ is finished: 2 of 2 sent, 0 skipped, 0 failed\.\n$/);
});

test("the bar shows the progress of the job", () => {
  const job = { state: "running", total: 200, done: 80, skipped: 15, failed: 5 } as const;
  assert.match(
    progressLine(job),
    /^\[#{15}-{15}\] {2}50% {2}80 of 200 sent, 15 skipped, 5 failed, running$/,
  );
  assert.match(progressLine({ ...job, state: "finished", total: 0 }), /100%/);
  assert.match(progressLine({ ...job, state: "queued", total: 0 }), / 0%/);
});

test("the command needs either one delivery or filters", async () => {
  const both = await run("delivery", "redeliver", "dlv_x", "--state", "cancelled");
  assert.deepEqual(both.stderr, "error: specify the id of one delivery, or filters\n");
  const { status, stderr } = await run("delivery", "redeliver", "--state", "cancelled");
  assert.equal(status, 1);
  assert.match(stderr, /filter: must name an organization or a subscription/);
});
