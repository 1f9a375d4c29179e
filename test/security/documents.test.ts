import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

const root = new URL("../../../", import.meta.url);
const read = (path: string) => readFile(new URL(path, root), "utf8");

const SECURITY = await read("SECURITY.md");

test("every test file that SECURITY.md names exists", () => {
  const paths = Array.from(SECURITY.matchAll(/`(test\/[^`]+)`/g), ([, path = ""]) => path);
  assert.ok(paths.length > 0);
  assert.deepEqual(
    paths.filter((path) => !existsSync(new URL(path, root))),
    [],
  );
});

test("each promise of SECURITY.md is the title of a test in the file that it names", async () => {
  const rows = [...SECURITY.matchAll(/^\| ([^|]+) \| `([a-z-]+\/[a-z./-]+)` \| [^|]*\|$/gm)];
  assert.ok(rows.length > 30);
  for (const [, promise = "", file = ""] of rows) {
    const text = await read(`test/${file}.test.ts`);
    assert.ok(text.includes(`"${promise}"`), `${promise} in ${file}`);
  }
});
