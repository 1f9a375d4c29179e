import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOf } from "./defaults.ts";

const DATABASE_URL = "postgres://127.0.0.1/partner";

test("a migration URL without DATABASE_URL is refused, because the schema would belong to another database", () => {
  assert.deepEqual(faultsOf({ MIGRATION_DATABASE_URL: DATABASE_URL }), [
    "MIGRATION_DATABASE_URL requires DATABASE_URL",
  ]);
});

test("rules about several variables do not apply to defaults", () => {
  assert.equal(faultsOf({ MIGRATION_DATABASE_URL: DATABASE_URL, DATABASE_URL: "x" }).length, 1);
  assert.equal(faultsOf({ SUBSCRIPTION_CONCURRENCY: "600", DISPATCH_CONCURRENCY: "x" }).length, 1);
});

test("partners and operators have separate listeners", () => {
  const clash = (env: NodeJS.ProcessEnv) =>
    faultsOf({ PORT: "9000", OPERATOR_PORT: "9000", ...env });
  const fault =
    "OPERATOR_PORT must differ from PORT: partners and operators have separate listeners";
  assert.deepEqual(clash({}), [fault]);
  assert.deepEqual(clash({ HOST: "0.0.0.0" }), [fault]);
  assert.deepEqual(clash({ OPERATOR_HOST: "::" }), [fault]);
  assert.deepEqual(faultsOf({ PORT: "8081" }), [fault]);

  assert.deepEqual(clash({ OPERATOR_HOST: "127.0.0.2" }), []);
  assert.deepEqual(clash({ ROLE: "dispatcher" }), []); // It has no partners' listener.
  assert.deepEqual(clash({ PORT: "0", OPERATOR_PORT: "0" }), []);
});
