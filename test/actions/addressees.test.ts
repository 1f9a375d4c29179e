import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Addressees } from "../../src/actions/addressees.ts";

/** Addressees on a clock that the test moves. `running` returns the list of dispatchers. */
function addresseesOf(t: TestContext, running: () => Promise<string[]>) {
  let now = 1_000;
  t.mock.method(performance, "now", () => now);
  const addressees = new Addressees(running);
  /** The addressees of the next three notices, each after pending reads. */
  const next = async () => {
    const chosen: (string | null)[] = [];
    for (let notices = 0; notices < 3; notices++) {
      chosen.push(addressees.next());
      await setImmediate();
    }
    return chosen;
  };
  return { next, pass: (ms: number) => (now += ms) };
}

test("dispatchers get notices in turn, and all get one while the list is read", async (t) => {
  const { next } = addresseesOf(t, () => Promise.resolve(["a", "b"]));
  const [first, ...others] = await next();
  assert.equal(first, null);
  assert.deepEqual(others.sort(), ["a", "b"]);
});

test("every 5 s the list is read again", async (t) => {
  let running = ["a"];
  const { next, pass } = addresseesOf(t, () => Promise.resolve(running));
  await next();
  running = ["b"];
  pass(4_999);
  assert.deepEqual(await next(), ["a", "a", "a"]);
  pass(1);
  assert.deepEqual(await next(), [null, "b", "b"]);
});

test("all dispatchers get the notices if none runs or the list cannot be read", async (t) => {
  const none = addresseesOf(t, () => Promise.resolve([]));
  assert.deepEqual(await none.next(), [null, null, null]);
  const unread = addresseesOf(t, () => Promise.reject(new Error("away")));
  assert.deepEqual(await unread.next(), [null, null, null]);
});
