import assert from "node:assert/strict";
import { test } from "node:test";
import { watch } from "../../src/postgres/embedded/watch.ts";

test("what keeps the server from starting is told once, whatever number each try has", async (t) => {
  const said: string[] = [];
  let tries = 0;
  const alive = setInterval(() => undefined, 1_000); // The watch itself keeps no process so.
  t.after(() => clearInterval(alive));
  let end = () => Promise.resolve();
  await new Promise<void>((resolve) => {
    const restart = () => {
      if (++tries === 2) setImmediate(resolve);
      return Promise.reject(new Error(`xlogtemp.${tries}: No space left on device`));
    };
    end = watch({ isServing: () => false, restart, log: (message) => said.push(message) });
  });
  await end();
  assert.equal(tries, 2);
  assert.deepEqual(said, ["xlogtemp.1: No space left on device"]);
});
