import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { listMarks, putMark, sharesPids, withLock } from "../../src/builtin/marks.ts";

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

test("a dead process's mark is ignored, even if another process has its pid now", async () => {
  const mark = await putMark(folder);
  const dead = await aDeadMark();
  await writeFile(join(folder, "1.0123456789ab"), "");
  assert.deepEqual(await listMarks(folder), [mark.name]);
  assert.deepEqual(await readdir(folder), [mark.name]);
  assert.notEqual(dead, mark.name);
  await mark.remove();
  assert.deepEqual(await readdir(folder), []);
});

test("a mark counts until its process is proven dead, even across pid namespaces", async () => {
  const mark = await putMark(folder);
  const foreign = `7${mark.name}`;
  await rename(join(folder, mark.name), join(folder, foreign));
  assert.deepEqual(await listMarks(folder), [foreign]);
  assert.deepEqual([sharesPids(mark.name), sharesPids(foreign)], [true, false]);
  await rm(join(folder, foreign));
  await mark.remove();
});

/** A mark of a process that was killed. Returns its name. */
async function aDeadMark(): Promise<string> {
  const module = new URL("../../src/builtin/marks.js", import.meta.url).href;
  const script = `
    import { putMark } from ${JSON.stringify(module)};
    console.log((await putMark(${JSON.stringify(folder)})).name);
    process.kill(process.pid, "SIGKILL");`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [name] = (await once(createInterface(child.stdout), "line")) as [string];
  await once(child, "close");
  return name;
}
