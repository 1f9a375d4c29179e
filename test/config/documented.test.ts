import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { configurationNames } from "../../src/config/config.ts";
import { ROOT } from "../support/root.ts";

test("configuration.md has a row for every setting", () => {
  const text = readFileSync(join(ROOT, "docs/configuration.md"), "utf8");
  const rows = text.split("\n").filter((line) => line.startsWith("| "));
  assert.deepEqual(
    configurationNames().filter((name) => !rows.some((row) => row.includes(`\`${name}\``))),
    [],
  );
});
