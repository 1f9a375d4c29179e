import assert from "node:assert/strict";
import { test } from "node:test";
import type { RedeliveryView } from "../../src/subjects/redeliveries/work.ts";
import { createCommandLine } from "../support/command-line.ts";
import { createRedeliveries, wh } from "../support/redeliveries.ts";

const { deps, clock, deadLetters, runAll } = await createRedeliveries();
const { run, json } = createCommandLine(deps, { clock });

test("a redelivery is paused, resumed, cancelled and listed", async () => {
  assert.equal((await run("redelivery", "list")).stdout, "There is no redelivery.\n");
  const subscription = await deadLetters(3);
  const { id } = await json<RedeliveryView>(
    ...["delivery", "redeliver", "--subscription", wh(subscription)],
  );
  for (const [command, state] of [
    ["pause", "paused"],
    ["resume", "running"],
    ["cancel", "cancelled"],
  ] as const) {
    const { status, stdout } = await run("redelivery", command, id);
    assert.equal(status, 0);
    assert.match(stdout, new RegExp(`^Redelivery ${id} is (${state}|queued): `));
    assert.match(
      (await run("redelivery", "list")).stdout,
      new RegExp(`${id} .* (${state}|queued) `),
    );
  }
  const listed = (await run("redelivery", "list")).stdout;
  assert.match(listed, new RegExp(`\n {2}subscription ${wh(subscription)}, by command line\n`));
  const shown = (await run("redelivery", "show", id)).stdout;
  assert.match(shown, /^progress {2}\[-{30}\] {3}0% {2}0 of 3 sent/m);
  assert.match(shown, new RegExp(`^filter {4}subscription ${wh(subscription)}$`, "m"));
  await runAll();
  const late = await run("redelivery", "pause", id);
  assert.equal(late.status, 1);
  assert.match(late.stderr, /^error: /);
});
