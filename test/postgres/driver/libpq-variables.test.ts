import assert from "node:assert/strict";
import { test } from "node:test";
import { libpqVariables } from "../../../src/postgres/driver/libpq-variables.ts";

const CA = "/etc/hostname"; // The file is read, so it must exist.

for (const [query, mode, authority] of [
  ["", undefined, undefined],
  ["?ssl=false", undefined, undefined],
  ["?sslmode=disable", "disable", undefined],
  ["?sslmode=prefer", "prefer", undefined],
  ["?sslmode=require", "require", undefined],
  [`?sslmode=require&sslrootcert=${CA}`, "require", CA],
  [`?sslmode=verify-ca&sslrootcert=${CA}`, "verify-ca", CA],
  ["?sslmode=verify-full", "verify-full", "system"],
  ["?sslrootcert=system", "verify-full", "system"],
  [`?sslrootcert=${CA}`, "verify-full", CA],
  ["?ssl=true", "verify-full", "system"],
  [`?sslcert=${CA}&sslkey=${CA}`, "verify-full", "system"],
] as const) {
  test(`with ${query || "no parameters"} libpq verifies as the service does`, () => {
    const { PGSSLMODE, PGSSLROOTCERT } = libpqVariables(`postgres://u@h/d${query}`);
    assert.deepEqual([PGSSLMODE, PGSSLROOTCERT], [mode, authority]);
  });
}

test("the operator's file of authorities replaces the system's, and never the URL's", () => {
  const authorityOf = (query: string) =>
    libpqVariables(`postgres://u@h/d${query}`, "/srv/ca.pem")["PGSSLROOTCERT"];
  assert.equal(authorityOf("?ssl=true"), "/srv/ca.pem");
  assert.equal(authorityOf("?sslrootcert=system"), "/srv/ca.pem");
  assert.equal(authorityOf(`?sslmode=verify-full&sslrootcert=${CA}`), CA);
  assert.equal(authorityOf(""), undefined);
});

test("the program's session has our settings, and its connection the URL's protection", () => {
  const url =
    "postgres://u@h:5/d?sslmode=require&channel_binding=require&require_auth=scram-sha-256";
  const { PGOPTIONS = "", ...variables } = libpqVariables(
    `${url}&hostaddr=127.0.0.1&host=name&options=endpoint%3Dep-1`,
  );
  assert.match(PGOPTIONS, /-c statement_timeout=0 .*-c datestyle=ISO,\\ MDY .* endpoint=ep-1$/);
  assert.deepEqual(variables, {
    ...{ PGHOST: "name", PGHOSTADDR: "127.0.0.1", PGPORT: "5", PGUSER: "u", PGDATABASE: "d" },
    ...{ PGSSLMODE: "require", PGCHANNELBINDING: "require", PGREQUIREAUTH: "scram-sha-256" },
  });
  assert.equal(libpqVariables(`${url}&pool_mode=session`)["PGOPTIONS"], undefined);
});
