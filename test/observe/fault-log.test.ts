import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { FaultLog } from "../../src/observe/log.ts";

test("the first internal faults are logged one by one, and after a minute all are counted", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>);
  const faults = new FaultLog(pino({}, { write }));
  const note = (count: number) => {
    for (let n = 0; n < count; n++)
      faults.note("no_resolver", { delivery: `dlv_${n}` }, "it waits");
  };

  note(1_000);
  faults.note("secret_sealed", {}, "it waits");
  assert.equal(lines.length, 20);
  const [{ fault, delivery, msg } = {}] = lines;
  assert.deepEqual(
    { fault, delivery, msg },
    { fault: "no_resolver", delivery: "dlv_0", msg: "internal fault: it waits" },
  );

  t.mock.timers.tick(60_000);
  assert.deepEqual(lines[20]?.["faults"], { no_resolver: 1_000, secret_sealed: 1 });
  note(1);
  assert.equal(lines.length, 22);
});

test("an internal fault with an exception is logged with its stack", () => {
  let line = "";
  const faults = new FaultLog(pino({}, { write: (text) => (line = text) }));
  faults.note("unexpected", {}, "it waits", new TypeError("of undefined"));
  const { err } = JSON.parse(line) as { err: { stack: string } };
  assert.match(err.stack, /^TypeError: of undefined\n +at .*fault-log/);
});
