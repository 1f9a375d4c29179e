import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { ROOT } from "../support/root.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const execute = promisify(execFile);
const TABLE = "public.events_20261101_000000_expired";

/** Runs the script with a `psql` that prints `rows`. */
async function aFolder(t: TestContext) {
  const folder = await aTemporaryFolder(t);
  const files = join(folder, "history");
  const exportRows = async (cell: string, psql: string, table = TABLE) => {
    await writeFile(join(folder, "psql"), `#!/bin/sh\n${psql}\n`, { mode: 0o755 });
    await execute(join(ROOT, "deploy/export-history.sh"), [table], {
      env: {
        PATH: `${folder}:${process.env["PATH"]}`,
        EXPORT_FOLDER: files,
        PARTNER_API_CELL: cell,
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
  return { exportRows, read, files };
}

test("two cells with a table of the same name get separate files", async (t) => {
  const { exportRows, read } = await aFolder(t);
  await exportRows("00", "echo first");
  await exportRows("01", "echo other cell");
  await exportRows("00", "echo stray");
  await exportRows("00", "echo another stray");
  assert.deepEqual(await read(), {
    [`00.${TABLE}.csv.gz`]: "first\n",
    [`00.${TABLE}.2.csv.gz`]: "stray\n",
    [`00.${TABLE}.3.csv.gz`]: "another stray\n",
    [`01.${TABLE}.csv.gz`]: "other cell\n",
  });
});

test("a failed export leaves no file", async (t) => {
  const { exportRows, read } = await aFolder(t);
  await assert.rejects(exportRows("00", "echo half; exit 2"));
  assert.deepEqual(await read(), {});
});

test("another name than a table of history's is refused before anything is written", async (t) => {
  const { exportRows, files } = await aFolder(t);
  for (const table of [
    "public./../x",
    '"../x".events_20261101_000000_expired',
    "--file=x",
    "public.api_keys",
    `${TABLE}; drop table events`,
    `${TABLE}\n`,
    `x\n${TABLE}`,
  ]) {
    await assert.rejects(
      exportRows("00", "echo row", table),
      /not the name of a history table/,
      table,
    );
  }
  await assert.rejects(readdir(files), { code: "ENOENT" });
  await exportRows("00", "echo row", '"S 1"' + TABLE.slice("public".length));
  assert.equal((await readdir(files)).length, 1);
});
