import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../support/root.ts";

const read = (path: string) => readFile(join(ROOT, path), "utf8");

test("each rule of the engine names a test that exists, and a bench that exists", async () => {
  const rows = (await read("docs/engine.md")).matchAll(
    /^\| .+ \| `(?<file>[a-z-]+\/[a-z-]+)`: (?<title>[^|]+) \| ?(?:`(?<bench>[a-z0-9-]+)`.*)?\|$/gm,
  );
  const found = [...rows].map(({ groups }) => groups ?? {});
  assert.ok(found.length > 30);
  const benches = await read("bench/scenarios.ts");
  for (const { file = "", title = "", bench } of found) {
    assert.ok((await read(`test/${file}.test.ts`)).includes(title.trim()), `${file}: ${title}`);
    if (bench) assert.ok(benches.includes(bench.replace(/-\d+$/, "")), bench);
  }
});
