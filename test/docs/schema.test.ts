import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../support/root.ts";

const MIGRATIONS = join(ROOT, "src/postgres/migrations");

test("the page about the schema explains every table, and no other", () => {
  const sql = readdirSync(MIGRATIONS).map((name) => readFileSync(join(MIGRATIONS, name), "utf8"));
  const tables = Array.from(
    sql.join().matchAll(/^create (?:unlogged )?table (\w+)/gm),
    ([, name]) => name,
  );
  const page = readFileSync(join(ROOT, "docs/schema.md"), "utf8");
  const rows = Array.from(page.matchAll(/^\| (`.+?`) \|/gm), ([, names = ""]) => names);
  assert.deepEqual(
    rows.flatMap((names) => Array.from(names.matchAll(/\w+/g), ([name]) => name)).toSorted(),
    [...tables.filter((name) => !name?.endsWith("_default")), "schema_migrations"].toSorted(),
  );
});
