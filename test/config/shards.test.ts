import assert from "node:assert/strict";
import { test } from "node:test";
import { eachShard, loadConfig } from "../../src/config.ts";
import { faultsOf } from "./defaults.ts";

test("SHARDS replaces DATABASE_URL, and the first one is the home shard", () => {
  const config = loadConfig({
    DATABASE_URL: "postgres://other/p",
    SHARDS: "z9=postgres://a:1,b:2/p  00=postgres://c/p?search_path=s1",
    MIGRATION_DATABASE_URL: "00=postgres://owner@c/p z9=postgres://owner@a/p",
  });
  const shards = [
    {
      ...{ shard: "z9", databaseUrl: "postgres://a:1,b:2/p" },
      migrationDatabaseUrl: "postgres://owner@a/p",
    },
    {
      ...{ shard: "00", databaseUrl: "postgres://c/p?search_path=s1" },
      migrationDatabaseUrl: "postgres://owner@c/p",
    },
  ];
  assert.deepEqual(config.shards, shards);
  assert.deepEqual({ ...config, ...shards[0] }, config);
  assert.deepEqual(
    eachShard(config),
    shards.map((shard) => ({ ...config, ...shard })),
  );
});

for (const [value, fault] of [
  ["postgres://a/p", /^SHARDS entry 1 must be name=url, the name two characters of 0-9 and a-z/],
  ["0=postgres://a/p", /^SHARDS entry 1 must be name=url/],
  ["A0=postgres://a/p", /^SHARDS entry 1 must be name=url/],
  ["00=postgres://a/p 01=mysql://a/p", /^SHARDS entry 2 must be name=url/],
  ["00=", /^SHARDS entry 1 must be name=url/],
  ["00=postgres://a/p 00=postgres://b/p", /^SHARDS must not use a name twice$/],
  ["00=postgres://a/p 01=postgres://a/p", /^SHARDS must not use a URL twice$/],
] as const) {
  test(`SHARDS=${value} is refused`, () => {
    const [first = "", ...others] = faultsOf({ SHARDS: value });
    assert.match(first, fault);
    assert.deepEqual(others, []);
  });
}

test("the owner's URLs must name the same shards, and all faults of both settings are reported at once", () => {
  const SHARDS = "00=postgres://a/p 01=postgres://b/p";
  const owners = (MIGRATION_DATABASE_URL: string) => faultsOf({ SHARDS, MIGRATION_DATABASE_URL });
  assert.deepEqual(owners("01=postgres://o@b/p 00=postgres://o@a/p"), []);
  for (const some of ["00=postgres://o@a/p", "00=postgres://o@a/p 02=postgres://o@b/p"]) {
    assert.deepEqual(owners(some), [
      "MIGRATION_DATABASE_URL must name every shard of SHARDS and no other",
    ]);
  }
  const faults = faultsOf({ SHARDS: "x 01=y", MIGRATION_DATABASE_URL: "postgres://o@a/p" });
  assert.deepEqual(
    faults.map((fault) => fault.slice(0, fault.indexOf(" must"))),
    ["SHARDS entry 1", "SHARDS entry 2", "MIGRATION_DATABASE_URL entry 1"],
  );
});
