import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { ROOT } from "../support/root.ts";

const execute = promisify(execFile);
const TABLE = "public.events_20261101_000000_expired";

/** Runs the script with a `psql` that prints `rows`. */
async function aFolder(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), "partner-api-test-"));
  t.after(() => rm(folder, { recursive: true }));
  const files = join(folder, "history");
  const exportRows = async (shard: string, psql: string) => {
    await writeFile(join(folder, "psql"), `#!/bin/sh\n${psql}\n`, { mode: 0o755 });
    await execute(join(ROOT, "deploy/export-history.sh"), [TABLE], {
      env: {
        PATH: `${folder}:${process.env["PATH"]}`,
        EXPORT_FOLDER: files,
        PARTNER_API_SHARD: shard,
      },
    });
  };
  const read = async () => {
    const names = (await readdir(files)).toSorted();
    const texts = names.map(async (name) => [
      name,
      gunzipSync(await readFile(join(files, name))).toString(),
    ]);
    return Object.fromEntries(await Promise.all(texts)) as Record<string, string>;
  };
  return { exportRows, read };
}

test("two shards with a table of the same name get separate files", async (t) => {
  const { exportRows, read } = await aFolder(t);
  await exportRows("00", "echo first");
  await exportRows("01", "echo other shard");
  await exportRows("00", "echo stray");
  await exportRows("00", "echo another stray");
  assert.deepEqual(await read(), {
    [`00.${TABLE}.csv.gz`]: "first\n",
    [`00.${TABLE}.2.csv.gz`]: "stray\n",
    [`00.${TABLE}.3.csv.gz`]: "another stray\n",
    [`01.${TABLE}.csv.gz`]: "other shard\n",
  });
});

test("a failed export leaves no file", async (t) => {
  const { exportRows, read } = await aFolder(t);
  await assert.rejects(exportRows("00", "echo half; exit 2"));
  assert.deepEqual(await read(), {});
});
