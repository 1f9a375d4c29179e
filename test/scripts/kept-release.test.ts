import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../support/root.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const { keepRelease } = (await import(join(ROOT, "scripts/kept-release.js"))) as {
  keepRelease: (folder: string, files: Record<string, unknown>) => Promise<void>;
};

test("a kept release is never overwritten", async (t) => {
  const parent = await aTemporaryFolder(t);
  const folder = join(parent, "1.0.0");
  const kept = async () =>
    JSON.parse(await readFile(join(folder, "openapi.json"), "utf8")) as object;

  await keepRelease(folder, { "openapi.json": { paths: { "/me": {} } } });
  await assert.rejects(keepRelease(folder, { "openapi.json": {} }), /partners rely on a release/);
  assert.deepEqual(await kept(), { paths: { "/me": {} } });
});
