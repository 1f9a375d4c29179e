import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { readPostmaster } from "../../src/builtin/keeper/processes.ts";
import { watch } from "../../src/builtin/watch.ts";

test("the reason of failed starts of the server is logged once, even if it contains changing numbers", async (t) => {
  const said: string[] = [];
  let tries = 0;
  const alive = setInterval(() => undefined, 1_000); // The watch itself does not keep a process alive.
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

test("a server whose state is unknown is not restarted, and this is logged once", async (t) => {
  const said: string[] = [];
  const alive = setInterval(() => undefined, 1_000);
  t.after(() => clearInterval(alive));
  let looks = 0;
  let restarts = 0;
  let end = () => Promise.resolve();
  await new Promise<void>((resolve) => {
    const isServing = () => {
      if (++looks === 2) setImmediate(resolve);
      throw new Error("EMFILE: too many open files");
    };
    const restart = async () => {
      restarts++;
      await Promise.resolve();
    };
    end = watch({ isServing, restart, log: (message) => said.push(message) });
  });
  await end();
  assert.deepEqual([looks, restarts, said], [2, 0, ["EMFILE: too many open files"]]);
});

test("without free descriptors a server's state is unknown, and without its pid file it is dead", async (t) => {
  const data = await mkdtemp(join(tmpdir(), "watch-"));
  t.after(() => rm(data, { recursive: true }));
  assert.equal(readPostmaster(data), null);
  await writeFile(join(data, "postmaster.pid"), `${process.pid}\n\n\n\n\n\n\nready\n`);
  assert.deepEqual(readPostmaster(data), { pid: process.pid, state: "ready" });

  const module = new URL("../../src/builtin/keeper/processes.js", import.meta.url).href;
  const script = `
    import { openSync } from "node:fs";
    import { readPostmaster } from ${JSON.stringify(module)};
    try { for (;;) openSync("/dev/null"); } catch {}
    try { console.log(readPostmaster(${JSON.stringify(data)})); } catch (error) { console.log(error.code); }`;
  const node = [process.execPath, "--input-type=module", "--eval", script];
  const limited = await promisify(execFile)("sh", ["-c", 'ulimit -n 64; exec "$@"', "sh", ...node]);
  assert.equal(limited.stdout, "EMFILE\n");
});
