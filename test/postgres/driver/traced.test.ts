import assert from "node:assert/strict";
import { test } from "node:test";
import { summarize } from "../../../src/postgres/driver/traced.ts";

test("a statement is named by the tables that it writes, or else reads, and by no value", () => {
  const names: [statement: string, name: string][] = [
    ["insert into events (id) values ($1)", "INSERT events"],
    [
      "with new as (select 1), e as (insert into events select * from new) insert into waiting_deliveries select 1",
      "INSERT events INSERT waiting_deliveries",
    ],
    [
      "with due as (select id from q for update skip locked) update waiting_deliveries q set a = $1",
      "UPDATE waiting_deliveries",
    ],
    [
      "insert into dedupe_keys as k (a) values ($1) on conflict (a) do update\n set a = 1",
      "INSERT dedupe_keys",
    ],
    ["delete from kept_answers where at < $1", "DELETE kept_answers"],
    [
      "with found as (select 1) select * from found f join subscriptions s on true",
      "SELECT subscriptions",
    ],
    ["select x from unnest($1::uuid[]) as x", "SELECT"],
    ["set transaction isolation level repeatable read, read only", "SET"],
    ["commit", "COMMIT"],
  ];
  for (const [statement, name] of names) assert.equal(summarize(statement), name);
});
