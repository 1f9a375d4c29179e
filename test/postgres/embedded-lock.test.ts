import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { withLock } from "../../src/postgres/embedded/lock.ts";
import { listMarks, putMark } from "../../src/postgres/embedded/marks.ts";
import { identify } from "../../src/postgres/embedded/process-identity.ts";

const folder = await mkdtemp(join(tmpdir(), "lock-"));
after(() => rm(folder, { recursive: true, force: true }));

test("of many who want the lock at once each has it alone", async () => {
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

test("work that fails gives the lock back", async () => {
  await assert.rejects(
    withLock(folder, () => Promise.reject(new Error("no"))),
    /no/,
  );
  assert.deepEqual(await readdir(folder), []);
});

test("a mark of a dead process counts for nothing, though its pid be taken again", async () => {
  const own = identify(process.pid) ?? "";
  const earlier = own.replace(/-\d+-/, "-1-");
  assert.notEqual(earlier, own);
  for (const dead of [earlier, "99999999-1-x"])
    await writeFile(join(folder, `${dead}.0123456789ab`), "");

  const mark = await putMark(folder);
  assert.deepEqual(await listMarks(folder), [mark]);
  await rm(mark);
  assert.deepEqual(await readdir(folder), []);
});
