import assert from "node:assert/strict";
import { test } from "node:test";
import { exportedTable } from "../../src/jobs/history-exports.ts";

test("a schema's name leads neither to another folder nor to an option", () => {
  const partition = "events_20261101_000000_expired";
  for (const schema of ["public", "s1", '"S 1"', '"a""b"', '"--file=x"']) {
    assert.equal(exportedTable({ schema, partition }), `${schema}.${partition}`);
  }
  for (const schema of ["--file=x", "..", '"../x"', '"a\nb"', '"a"b"', '"\u202e"', '"', '""', ""]) {
    assert.equal(exportedTable({ schema, partition }), null, schema);
  }
});
