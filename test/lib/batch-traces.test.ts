import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { test } from "node:test";
import { batch } from "../../src/lib/batch.ts";
import { currentSpans, inSpans, type Span } from "../../src/lib/tracing.ts";

function aSpan(traceId: string): Span {
  return {
    traceId,
    traceparent: traceId,
    child: () => aSpan(traceId),
    set: () => undefined,
    end: () => undefined,
  };
}

const traces = () => currentSpans().map(({ traceId }) => traceId);

test("a batch belongs to the traces of all its callers, once each", async () => {
  const call = batch((items: number[]) => Promise.resolve(items.map(traces)), { max: 10 });
  const a = aSpan("a");
  const [first] = await Promise.all([
    inSpans([a], () => call(1)),
    inSpans([a], () => call(2)),
    inSpans([aSpan("b")], () => call(3)),
    call(4),
  ]);
  assert.deepEqual(first, ["a", "b"]);
});

test("a batch that another caller's batch starts belongs only to the traces of its own callers", async () => {
  const call = batch(
    async (items: number[]) => {
      await turn();
      return items.map(traces);
    },
    { max: 1 },
  );
  const traced = inSpans([aSpan("a")], () => call(1));
  const alone = inSpans([], () => call(2));
  const other = inSpans([aSpan("b")], () => call(3));
  assert.deepEqual(await Promise.all([traced, alone, other]), [["a"], [], ["b"]]);
});
