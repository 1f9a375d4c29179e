import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextIteration, setTimeout as sleep } from "node:timers/promises";
import { watchLongIterations } from "../../src/egress/connection-pool.ts";
import { Egress } from "../../src/egress/index.ts";
import * as scripts from "../support/receiver-scripts.ts";
import { DELIVERED, startPair } from "../support/sender.ts";
import { standStill } from "../support/stand-still.ts";

test("a long iteration of the event loop is noticed right after it", async () => {
  let lateMs = 0;
  const stop = watchLongIterations((late) => (lateMs += late));
  standStill(250);
  await sleep(100);
  stop();
  assert.ok(lateMs >= 150, `${lateMs} ms`);
});

test("a pause of our process does not hide that a kept connection reset while sending", async (t) => {
  const { receiver, send } = await startPair(t);
  receiver.answer(scripts.resetWhenReused(scripts.status(200)));
  await send();
  const repeated = send();
  await nextIteration(); // The request is sent.
  standStill(750);
  assert.deepEqual(await repeated, DELIVERED);
  assert.equal(receiver.requests.length, 3);
});

test("an egress that only checks URLs watches no iterations", async (t) => {
  const started = t.mock.method(globalThis, "setInterval");
  const egress = new Egress({ lookup: () => Promise.resolve({ kind: "none" }) });
  assert.equal((await egress.check("https://hooks.test/")).ok, false);
  await egress.close();
  assert.equal(started.mock.callCount(), 0);
});
