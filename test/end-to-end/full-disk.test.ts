import assert from "node:assert/strict";
import { once } from "node:events";
import { type FileHandle, open } from "node:fs/promises";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../support/free-port.ts";
import { run } from "../support/program.ts";
import { aRig } from "../support/rig.ts";

const FULL = "/dev/full";

/** Opened for writing. Undefined if there is no such device: then the test is skipped. */
async function aFullDisk(t: TestContext): Promise<FileHandle | undefined> {
  const full = await open(FULL, "w").catch(() => undefined);
  if (full === undefined) t.skip("this machine has no device that is always full");
  return full;
}

test("an unwritable log loses only its lines", { timeout: 60_000 }, async (t) => {
  const full = await aFullDisk(t);
  if (full === undefined) return;
  const port = await freePort();
  const rig = { ...(await aRig(t)), PORT: String(port), OPERATOR_PORT: "0" };
  const program = run(["serve"], rig, full.fd);
  t.after(() => program.kill("SIGKILL"));
  const exited = once(program, "exit");
  await full.close();

  const isAlive = () =>
    fetch(`http://127.0.0.1:${port}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isAlive())) await sleep(20);
  for (let request = 0; request < 100; request++) assert.ok(await isAlive());
  await sleep(200); // The time in which all these lines are written.
  assert.ok(await isAlive());
  program.kill("SIGTERM");
  assert.deepEqual(await exited, [0, null]);
});

test("a command whose output cannot be written fails with one line", async (t) => {
  const full = await aFullDisk(t);
  if (full === undefined) return;
  const program = run(["org", "list"], await aRig(t), full.fd);
  const exited = once(program, "exit");
  await full.close();
  let complaint = "";
  program.stderr.setEncoding("utf8").on("data", (text: string) => (complaint += text));
  assert.deepEqual(await exited, [1, null]);
  assert.equal(complaint, "error: cannot write to standard output (ENOSPC)\n");
});
