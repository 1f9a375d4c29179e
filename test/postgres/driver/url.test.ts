import assert from "node:assert/strict";
import { test } from "node:test";
import { readUrl } from "../../../src/postgres/driver/url.ts";
import { column } from "../../support/columns.ts";

const placesOf = (url: string) => readUrl(url).addresses.map(({ host, port }) => [host, port]);

for (const [url, places] of [
  ["postgres://u@one:5433/d", [["one", 5433]]],
  ["postgres://u@one/d", [["one", undefined]]],
  ["postgres:///d", [[undefined, undefined]]],
  [
    "postgres://u:p@one:1,two,[::1]:3/d",
    [
      ["one", 1],
      ["two", undefined],
      ["::1", 3],
    ],
  ],
  [
    "postgres://one,two:x@one,two/d",
    [
      ["one", undefined],
      ["two", undefined],
    ],
  ],
  ["postgres://u@%2Frun%2Fa%20b:5433/d", [["/run/a b", 5433]]],
  ["postgres:///d?host=/run/p", [["/run/p", undefined]]],
  [
    "postgres://u@/d?host=one,two&port=1,2",
    [
      ["one", 1],
      ["two", 2],
    ],
  ],
  [
    "postgres://u@/d?host=one,two&port=1",
    [
      ["one", 1],
      ["two", 1],
    ],
  ],
] as const) {
  test(`${url} leads to ${JSON.stringify(places)}`, () => {
    assert.deepEqual(placesOf(url), places);
  });
}

test("a role, a password and a database are decoded from the URL", () => {
  const { user, password, database } = readUrl("postgres://a%40b:p%3A%2F@h/d%20e");
  assert.deepEqual([user, password, database], ["a@b", "p:/", "d e"]);
});

test("unknown parameters are passed to the server", () => {
  const url =
    "postgres://u@h/d?search_path=s1&application_name=x&sslmode=disable&connect_timeout=3";
  const { settings, applicationName } = readUrl(url);
  assert.deepEqual([settings, applicationName], [{ search_path: "s1" }, "x"]);
});

for (const [query, mode] of [
  ["", null],
  ["?pool_mode=session", "session"],
  ["?pool_mode=transaction", "transaction"],
] as const) {
  test(`with ${query || "no parameters"} the pool mode is ${mode}`, () => {
    const { poolMode, settings } = readUrl(`postgres://u@h/d${query}`);
    assert.deepEqual([poolMode, settings], [mode, {}]);
  });
}

const anyone = { rejectUnauthorized: false };

for (const [query, ways] of [
  ["", [false]],
  ["?sslmode=disable", [false]],
  ["?sslmode=allow", [false, anyone]],
  ["?sslmode=prefer", [anyone, false]],
  ["?sslmode=require", [anyone]],
  ["?sslmode=verify-full", [{}]],
  ["?sslmode=verify-full&sslrootcert=system", [{}]],
  ["?sslrootcert=system", [{}]],
  ["?ssl=true", [{}]],
  ["?ssl=false", [false]],
] as const) {
  test(`with ${query || "no parameters"} a host is tried ${JSON.stringify(ways)}`, () => {
    const tried = (host: string) => readUrl(`postgres://u@${host}/d${query}`).addresses;
    assert.deepEqual(column(tried("h"), "ssl"), ways);
    assert.deepEqual(column(tried("%2Frun"), "ssl"), [false], "a socket needs no TLS");
  });
}

for (const [query, words] of [
  ["?sslmode=verify-ca", /sslmode=verify-ca needs sslrootcert/],
  ["?sslmode=verify-full&sslrootcert=/nowhere/ca.pem", /no such file.*\/nowhere\/ca\.pem/],
  ["?sslmode=require&sslrootcert=system", /sslrootcert=system needs sslmode=verify-full/],
  ["?pool_mode=statement", /pool_mode must be session or transaction/],
  ["?sslmode=yes", /sslmode must be disable, allow, prefer/],
  ["?ssl=require", /use sslmode in place of it/],
] as const) {
  test(`${query} is a fault of the URL, not an outage`, () => {
    const read = () => readUrl(`postgres://u:secret@h/d${query}`);
    assert.throws(read, (error: Error) => {
      assert.match(error.message, /^the database's URL: /);
      assert.match(error.message, words);
      assert.doesNotMatch(error.message, /secret/);
      return !("code" in error);
    });
  });
}
