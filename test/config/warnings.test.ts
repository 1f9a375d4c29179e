import assert from "node:assert/strict";
import { test } from "node:test";
import { loadConfig } from "../../src/config/config.ts";
import { warningsOf } from "../../src/config/warnings.ts";

const warnings = (env: Record<string, string>) =>
  warningsOf(loadConfig(env)).map(({ message }) => message);

test("a start warns only of listeners that others can reach without the necessary settings", () => {
  const BASE_URL = "https://partners.example.com";
  assert.deepEqual(warnings({}), []);
  assert.deepEqual(warnings({ HOST: "0.0.0.0", BASE_URL, OPERATOR_HOST: "localhost" }), []);
  assert.match(warnings({ HOST: "::" }).join(), /^BASE_URL is not set/);
  assert.deepEqual(warnings({ HOST: "::", ROLE: "dispatcher" }), []);
  assert.match(warnings({ ALLOWED_HOSTS: "*" }).join(), /^ALLOWED_HOSTS is \*/);
  assert.deepEqual(warnings({ ALLOWED_HOSTS: "*", ROLE: "dispatcher" }), []);
  assert.match(warnings({ OPERATOR_HOST: "0.0.0.0" }).join(), /^other machines can reach/);
});

test("a start warns of a RETENTION that is shorter than the retries", () => {
  assert.match(warnings({ RETENTION: "32h" }).join(), /^RETENTION \(32h\) .* \(32h36m\): .* audit/);
  assert.deepEqual(warnings({ RETENTION: "1956m" }), []);
  assert.deepEqual(warnings({ RETENTION: "2h", RETRY_DELAYS: "1h,1h" }), []);
});

test("a start warns of a misspelt name", () => {
  assert.deepEqual(warnings({ RETRY_DELAY: "1m" }), [
    "RETRY_DELAY is not a setting: did you mean RETRY_DELAYS?",
  ]);
});

test("a start warns of libpq's variables that it does not read", () => {
  const PGSSLMODE = "verify-full";
  assert.deepEqual(warnings({ PGSSLMODE }), []);
  assert.deepEqual(warnings({ PGSSLMODE, DATABASE_URL: "postgres://a/p?sslmode=require" }), []);
  assert.deepEqual(warnings({ PGSSLMODE, DATABASE_URL: "postgres://a/p" }), [
    "PGSSLMODE is not read: write sslmode into the database's URL",
  ]);
  const others = {
    ...{ PGSERVICE: "production", PGREQUIREPEER: "postgres", PGSSLROOTCERT: "/ca.pem" },
    ...{ PGTARGETSESSIONATTRS: "standby", PGGSSENCMODE: "prefer", PGREQUIRESSL: "1" },
  };
  assert.deepEqual(warnings({ ...others, DATABASE_URL: "postgres://a/p" }), [
    "PGREQUIRESSL is not read: write sslmode into the database's URL",
    "PGSSLROOTCERT is not read: write sslrootcert into the database's URL",
    "PGREQUIREPEER is not supported: the driver cannot tell who owns the other end of a socket",
    "PGTARGETSESSIONATTRS must be any, read-write or primary: the service writes",
    "PGSERVICE is not supported: write the URL in full",
  ]);
  const PGSSLROOTCERT = "/ca.pem"; // For the programs of EXPORT_COMMAND.
  const DATABASE_URL = "postgres://a/p?sslmode=verify-full";
  assert.deepEqual(warnings({ PGSSLROOTCERT, DATABASE_URL }), []);
});

test("a start distinguishes a test rig from an EGRESS_ALLOW of everything", () => {
  for (const EGRESS_ALLOW of ["127.0.0.0/8", "10.0.0.0/8", "fc00::/7", "::1/128"]) {
    assert.match(warnings({ EGRESS_ALLOW }).join(), /^EGRESS_ALLOW is set/, EGRESS_ALLOW);
  }
  for (const EGRESS_ALLOW of ["0.0.0.0/0", "::/0", "127.0.0.0/8,0.0.0.0/1", "10.0.0.0/7"]) {
    assert.match(warnings({ EGRESS_ALLOW }).join(), /cloud's metadata/, EGRESS_ALLOW);
  }
});
