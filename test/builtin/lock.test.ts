import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { listPresent, showPresence, sharesPids, withLock } from "../../src/builtin/presence.ts";

const folder = await mkdtemp(join(tmpdir(), "lock-"));
after(() => rm(folder, { recursive: true, force: true }));

test("only one of many processes has the lock at a time", async () => {
  let inside = 0;
  const most = await Promise.all(
    Array.from({ length: 6 }, () =>
      withLock(folder, async () => {
        const seen = ++inside;
        for (let i = 0; i < 20; i++) await turn();
        inside--;
        return seen;
      }),
    ),
  );
  assert.deepEqual(most, [1, 1, 1, 1, 1, 1]);
  assert.deepEqual(await readdir(folder), []);
});

test("failed work releases the lock", async () => {
  await assert.rejects(
    withLock(folder, () => Promise.reject(new Error("no"))),
    /no/,
  );
  assert.deepEqual(await readdir(folder), []);
});

test("a dead process is not present, even if another process has its pid now", async () => {
  const presence = await showPresence(folder);
  const dead = await aDeadProcess();
  await writeFile(join(folder, "1.0123456789ab"), "");
  assert.deepEqual(await listPresent(folder), [presence.name]);
  assert.deepEqual(await readdir(folder), [presence.name]);
  assert.notEqual(dead, presence.name);
  await presence.remove();
  assert.deepEqual(await readdir(folder), []);
});

test("a process is present until it is proven dead, even across pid namespaces", async () => {
  const presence = await showPresence(folder);
  const foreign = `7${presence.name}`;
  await rename(join(folder, presence.name), join(folder, foreign));
  assert.deepEqual(await listPresent(folder), [foreign]);
  assert.deepEqual([sharesPids(presence.name), sharesPids(foreign)], [true, false]);
  await rm(join(folder, foreign));
  await presence.remove();
});

/** The presence of a process that was killed. Returns its name. */
async function aDeadProcess(): Promise<string> {
  const module = new URL("../../src/builtin/presence.js", import.meta.url).href;
  const script = `
    import { showPresence } from ${JSON.stringify(module)};
    console.log((await showPresence(${JSON.stringify(folder)})).name);
    process.kill(process.pid, "SIGKILL");`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [name] = (await once(createInterface(child.stdout), "line")) as [string];
  await once(child, "close");
  return name;
}
