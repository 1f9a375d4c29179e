import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { SetUps } from "../../src/egress/connection-pool.ts";

const WAIT_MS = 500;
const HOST = "hooks.partner.test";

/** Three attempts at a host: one sets up a connection, and two wait. */
function threeAttempts(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const setUps = new SetUps();
  let end: (error?: Error) => void = () => undefined;
  const first = setUps
    .run(
      HOST,
      () =>
        new Promise<void>((resolve, reject) => {
          end = (error) => (error ? reject(error) : resolve());
        }),
    )
    .catch(() => undefined);
  const begun: string[] = [];
  for (const name of ["second", "third"]) {
    assert.equal(setUps.isBusy(HOST), true, `${name} has to wait`);
    void setUps.waitFor(HOST, WAIT_MS).then(() => begun.push(name));
  }
  const settle = async () => {
    await setImmediate();
    return begun;
  };
  return {
    setUps,
    begun: settle,
    end: async (error?: Error) => {
      end(error);
      await first;
    },
  };
}

test("while an attempt sets up a connection, others at its host wait until one is left", async (t) => {
  const { setUps, begun, end } = threeAttempts(t);
  await end();
  assert.deepEqual(await begun(), []);
  assert.equal(setUps.left(HOST), true);
  assert.deepEqual(await begun(), ["second"]);
  assert.equal(setUps.isBusy(HOST), true, "the third waits");
  assert.equal(setUps.left(HOST), true);
  assert.deepEqual(await begun(), ["second", "third"]);
  assert.equal(setUps.left(HOST), false, "none waits");
  assert.equal(setUps.isBusy(HOST), false);
});

test("an attempt waits no longer than its limit for a connection of others", async (t) => {
  const { begun } = threeAttempts(t);
  t.mock.timers.tick(WAIT_MS - 1);
  assert.deepEqual(await begun(), []);
  t.mock.timers.tick(1);
  assert.deepEqual(await begun(), ["second", "third"]);
});

test("if a connection is not left after as long as its set-up took, the next attempt sets one up", async (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const { begun, end } = threeAttempts(t);
  now = 20;
  await end();
  t.mock.timers.tick(19);
  assert.deepEqual(await begun(), []);
  t.mock.timers.tick(1);
  assert.deepEqual(await begun(), ["second"]);
});

test("if it is left in time, only one attempt begins", async (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const { setUps, begun, end } = threeAttempts(t);
  now = 20;
  await end();
  setUps.left(HOST);
  t.mock.timers.tick(20);
  assert.deepEqual(await begun(), ["second"]);
});

test("the time of an attempt that has begun does not end the waits of later ones", async (t) => {
  const { setUps, end } = threeAttempts(t);
  await end();
  setUps.left(HOST);
  setUps.left(HOST);
  void setUps.waitFor(HOST, WAIT_MS);
  t.mock.timers.tick(1);
  assert.equal(setUps.isBusy(HOST), true, "one waits");
});

test("if no connection can be set up, the next attempt tries", async (t) => {
  const { begun, end } = threeAttempts(t);
  await end(new Error("refused"));
  assert.deepEqual(await begun(), ["second"]);
});

test("nobody waits for a receiver that closes its connections", async (t) => {
  const { setUps, begun } = threeAttempts(t);
  setUps.closed(HOST);
  assert.deepEqual(await begun(), ["second", "third"]);
  assert.equal(setUps.isBusy(HOST), false);
  setUps.left(HOST);
  assert.equal(setUps.isBusy(HOST), true, "it keeps them again");
});

test("attempts at other hosts do not wait", (t) => {
  const { setUps } = threeAttempts(t);
  assert.equal(setUps.isBusy("another.partner.test"), false);
});
