import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../support/root.ts";

const { keepRelease } = (await import(join(ROOT, "scripts/kept-release.js"))) as {
  keepRelease: (folder: string, files: Record<string, unknown>) => Promise<void>;
};

test("a kept release is never overwritten", async (t) => {
  const parent = await mkdtemp(join(tmpdir(), "partner-api-test-"));
  t.after(() => rm(parent, { recursive: true, force: true }));
  const folder = join(parent, "1.0.0");
  const kept = async () =>
    JSON.parse(await readFile(join(folder, "openapi.json"), "utf8")) as object;

  await keepRelease(folder, { "openapi.json": { paths: { "/me": {} } } });
  await assert.rejects(keepRelease(folder, { "openapi.json": {} }), /partners rely on a release/);
  assert.deepEqual(await kept(), { paths: { "/me": {} } });
});
