import assert from "node:assert/strict";
import { test } from "node:test";
import { checkWorkers } from "../../src/observe/health.ts";
import { addUpCounts, exposeSum, type MetricValues } from "../../src/observe/metrics.ts";

const ok = (name: string) => ({ name, ok: true });
const bad = (name: string) => ({ name, ok: false, detail: "broken" });
const WELL = [ok("database"), ok("clock")];
const STOPPING = [{ name: "stopping", ok: false }];

function told(checks: Parameters<typeof checkWorkers>[0]["checks"], count = checks.length) {
  return checkWorkers({ checks, count }).map((check) => [check.name, check.ok, check.detail]);
}

test("a check of several workers fails if it fails in one of them", () => {
  assert.deepEqual(told([WELL, [bad("database"), ok("clock")]]), [
    ["database", false, "broken"],
    ["clock", true, undefined],
    ["workers", true, "2 of 2 serve"],
  ]);
});

test("a fault that only one worker has is among the checks", () => {
  const names = told([WELL, [...WELL, bad("no_resolver")]]).map(([name, isOk]) => [name, isOk]);
  assert.deepEqual(names, [
    ["database", true],
    ["clock", true],
    ["no_resolver", false],
    ["workers", true],
  ]);
});

test("a worker that does not answer fails the check of the workers", () => {
  assert.deepEqual(told([WELL, null]).at(-1), ["workers", false, "1 of 2 do not answer"]);
});

test("one that has ended, or stops by itself, does not: the others serve", () => {
  assert.deepEqual(told([WELL], 3).at(-1), ["workers", true, "1 of 3 serve"]);
  assert.deepEqual(told([STOPPING, WELL]).at(-1), ["workers", true, "1 of 2 serve"]);
});

test("if all workers stop, the whole stops", () => {
  assert.deepEqual(told([STOPPING, STOPPING]), [["stopping", false, undefined]]);
});

function values(type: string, name: string, value: number, labels = {}): MetricValues {
  const metric = { name, help: name, type, aggregator: "sum", values: [{ value, labels }] };
  return [metric] as unknown as MetricValues;
}

test("counters of workers are added up, and gauges of the database are not", async () => {
  const all = [1, 2].map((worker) => [
    ...values("counter", "attempts", 10),
    ...values("gauge", "lag", 3),
    ...values("gauge", "memory", worker, { worker: `${worker}` }),
  ]);
  const { body } = await exposeSum(all);
  const samples = body.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  assert.deepEqual(samples, [
    "attempts 20",
    "lag 3",
    'memory{worker="1"} 1',
    'memory{worker="2"} 2',
  ]);
});

test("of workers that have ended the counters are kept, and the gauges are not", async () => {
  const ended = await addUpCounts([
    values("counter", "attempts", 10),
    [...values("counter", "attempts", 5), ...values("gauge", "memory", 1)],
  ]);
  assert.deepEqual(
    ended.map(({ name, values: [first] }) => [name, first?.value]),
    [["attempts", 15]],
  );
});
