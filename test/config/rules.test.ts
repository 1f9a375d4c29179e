import assert from "node:assert/strict";
import { test } from "node:test";
import { loadConfig } from "../../src/config.ts";

const DATABASE_URL = "postgres://127.0.0.1/partner";

function faultsOf(env: NodeJS.ProcessEnv): string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    return (error as Error).message.split("\n  ").slice(1);
  }
}

test("a migration URL alone is refused, because the schema would belong to another database", () => {
  assert.deepEqual(faultsOf({ MIGRATION_DATABASE_URL: DATABASE_URL }), [
    "MIGRATION_DATABASE_URL requires DATABASE_URL",
  ]);
});

test("rules about several variables do not apply to defaults", () => {
  assert.equal(faultsOf({ MIGRATION_DATABASE_URL: DATABASE_URL, DATABASE_URL: "x" }).length, 1);
  assert.equal(faultsOf({ SUBSCRIPTION_CONCURRENCY: "600", DISPATCH_CONCURRENCY: "x" }).length, 1);
});
