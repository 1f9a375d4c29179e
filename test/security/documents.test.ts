import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

const root = new URL("../../../", import.meta.url);
const read = (path: string) => readFile(new URL(path, root), "utf8");

test("every test file that SECURITY.md names exists", async () => {
  const named = (await read("SECURITY.md")).matchAll(/`(test\/[^`]+)`/g);
  const paths = [...named].map(([, path = ""]) => path);
  assert.ok(paths.length > 20);
  assert.deepEqual(
    paths.filter((path) => !existsSync(new URL(path, root))),
    [],
  );
});

test("every test title that SECURITY.md quotes exists in its file", async () => {
  const quoted = [...(await read("SECURITY.md")).matchAll(/`(test\/[^`]+)`[^"`|]*: "([^"]+)"/g)];
  assert.equal(quoted.length, 6);
  for (const [, path = "", sentence = ""] of quoted) {
    assert.ok((await read(path)).includes(sentence), `${sentence} in ${path}`);
  }
});

test("every bound in docs/bounds.md is in the file that it names", async () => {
  const clauses = (await read("docs/bounds.md")).matchAll(/((?:`[^`]+`,? ?)+) in `(src\/[^`]+)`/g);
  const bounds = [...clauses].flatMap(([, names = "", path = ""]) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => ({ name, path })),
  );
  assert.ok(bounds.length > 40);
  for (const { name, path } of bounds) {
    assert.ok((await read(path)).includes(name), `${name} in ${path}`);
  }
});
