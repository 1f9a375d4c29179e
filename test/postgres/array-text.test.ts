import assert from "node:assert/strict";
import { test } from "node:test";
import { arrayText } from "../../src/postgres/array-text.ts";
import { createDatabase } from "../support/database.ts";

test("an array of any texts reaches the database unchanged", async () => {
  const db = await createDatabase();
  const texts = ["plain", "", "NULL", 'a "quote"', "a \\ backslash", "{a,b}", "naïve €", null];
  const time = new Date("2026-01-02T03:04:05.678Z");

  // As JSON, because the driver reads no null in an array.
  const [row] = await db`
    select to_json(${arrayText(texts)}::text::text[]) as texts,
           to_json(${arrayText([1, -2, null])}::text::int[]) as numbers,
           to_json(${arrayText([true, false])}::text::boolean[]) as truths,
           (${arrayText([null, time])}::text::timestamptz[])[2] as time,
           to_json(${arrayText([])}::text::uuid[]) as nothing`;

  assert.deepEqual(
    { ...row },
    { texts, numbers: [1, -2, null], truths: [true, false], time, nothing: [] },
  );
});
