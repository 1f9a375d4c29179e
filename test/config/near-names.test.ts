import assert from "node:assert/strict";
import { test } from "node:test";
import { configurationNames } from "../../src/config/config.ts";
import { findMisspelt } from "../../src/config/settings.ts";

const meantBy = (...given: string[]) =>
  findMisspelt(given, configurationNames()).map(({ name, meant }) => `${name} ${meant}`);

test("a variable one or two letters from a setting is found", () => {
  assert.deepEqual(meantBy("RETRY_DELAY", "ATTEMPT_TIMOUT", "retention", "EGRESS-ALLOW", "PORTS"), [
    "RETRY_DELAY RETRY_DELAYS",
    "ATTEMPT_TIMOUT ATTEMPT_TIMEOUT",
    "retention RETENTION",
    "EGRESS-ALLOW EGRESS_ALLOW",
    "PORTS PORT",
  ]);
});

test("common shell variables and correct names are not reported as misspelt", () => {
  const usual = ["HOME", "PATH", "USER", "TERM", "LANG", "SHELL", "PWD", "HOSTNAME", "LOGNAME"];
  assert.deepEqual(meantBy(...usual, "PGHOST", "PGPORT", "NODE_ENV", "TZ", "EDITOR"), []);
  assert.deepEqual(meantBy("RETRY_DELAY", "RETRY_DELAYS"), []);
});
