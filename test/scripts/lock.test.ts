import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

type UnderLock = <T>(
  path: string,
  work: () => Promise<T>,
  options: { onWait: () => void; signal: AbortSignal },
) => Promise<T>;

const script = new URL("../../../scripts/lock.js", import.meta.url);
const { underLock } = (await import(script.href)) as { underLock: UnderLock };
const { signal } = new AbortController();

test("only one process prepares a checkout, and it leaves no lock behind", async (t) => {
  const folder = await aTemporaryFolder(t);
  const path = join(folder, "lock");
  const order: string[] = [];

  let noteWait = (): void => undefined;
  const waiting = new Promise<void>((resolve) => (noteWait = resolve));
  const first = underLock(path, () => waiting.then(() => order.push("first is over")), {
    onWait: () => assert.fail("the lock is free"),
    signal,
  });
  const second = underLock(path, () => Promise.resolve(order.push("second begins")), {
    onWait: noteWait,
    signal,
  });

  await Promise.all([first, second]);
  assert.deepEqual(order, ["first is over", "second begins"]);
  assert.deepEqual(await readdir(folder), []);
});

test("a process that stops waiting leaves only the holder's lock", async (t) => {
  const folder = await aTemporaryFolder(t);
  const path = join(folder, "lock");
  const giveUp = new AbortController();

  const hold = async () => {
    const waiter = underLock(path, () => assert.fail("the lock is taken"), {
      onWait: () => {
        giveUp.abort();
      },
      signal: giveUp.signal,
    });
    await assert.rejects(waiter, { name: "AbortError" });
    assert.deepEqual(await readdir(folder), ["lock"]);
  };
  await underLock(path, hold, { onWait: () => assert.fail("the lock is free"), signal });
});
