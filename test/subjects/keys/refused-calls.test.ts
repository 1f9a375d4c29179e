import assert from "node:assert/strict";
import { test } from "node:test";
import { Busy, Crowded } from "../../../src/lib/errors.ts";
import { createDependencies } from "../../../src/subjects/create-dependencies.ts";
import type { Parts } from "../../../src/subjects/dependencies.ts";

/** Look-ups whose statement never ends. */
function stalled() {
  const statement = () => new Promise<never>(() => undefined);
  const db = Object.assign(statement, { within: () => statement });
  const { batched } = createDependencies({ db, clock: () => new Date() } as unknown as Parts);
  return () => batched.findSubscription({ id: "any", soughtBy: null });
}

test("a statement that takes too long is an outage for its callers, who may retry in 5 s", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const find = stalled();
  const refused = assert.rejects(
    find(),
    (error) => error instanceof Busy && error.retryAfter === 5,
  );
  await new Promise(setImmediate);
  t.mock.timers.tick(5_000);
  await refused;
  await assert.rejects(find(), Busy);
});

test("too many waiting calls are no outage", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const find = stalled();
  const calls = Array.from({ length: 32 + 10_001 }, find);
  await assert.rejects(Promise.race(calls), Crowded);
  t.mock.timers.tick(5_000);
  await Promise.allSettled(calls);
});
