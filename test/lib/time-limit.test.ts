import assert from "node:assert/strict";
import { test } from "node:test";
import { withTimeLimit } from "../../src/lib/time-limit.ts";
import { collectGarbage } from "../support/garbage.ts";

/** Resolves to the name of the error with which a signal of ours aborts. Only its listener holds it. */
function reasonOf(ms: number, stop: AbortSignal): Promise<string> {
  const signal = withTimeLimit(ms, stop);
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve((signal.reason as Error).name));
  });
}

test("a time limit is over even after garbage collection", { timeout: 10_000 }, async (t) => {
  collectGarbage(t);
  assert.equal(await reasonOf(200, new AbortController().signal), "TimeoutError");
});

test("a signal with a time limit aborts when the given one does", async () => {
  const stop = new AbortController();
  const reason = reasonOf(60_000, stop.signal);
  stop.abort();
  assert.equal(await reason, "AbortError");
});
