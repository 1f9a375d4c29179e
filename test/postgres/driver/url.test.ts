import assert from "node:assert/strict";
import { test } from "node:test";
import { loadConfig } from "../../../src/config/config.ts";
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
  ["postgres://u@[fe80::1%25eth0]:1/d", [["fe80::1%eth0", 1]]],
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

for (const [written, password] of [
  ["p@ss", "p@ss"],
  ["p#ss", "p#ss"],
  ["100%", "100%"],
  ["a%2Fb c", "a/b c"],
  ["a%2F%", "a/%"],
] as const) {
  test(`the password ${written} is read as it was meant`, () => {
    const { addresses, password: read } = readUrl(`postgres://u:${written}@h:1/d?sslmode=disable`);
    assert.deepEqual([addresses, read], [[{ host: "h", port: 1, ssl: false }], password]);
  });
}

/** As consoles and documentations hand them out. `fault`: what is to be written in place of a part. */
const PROVIDERS: [
  provider: string,
  url: string,
  expected: { host?: string; port?: number; user?: string; database?: string; fault?: RegExp },
][] = [
  [
    "Neon",
    "postgresql://owner:npg_x@ep-cool-name-123456.eu-central-1.aws.neon.tech/neondb?sslmode=require&channel_binding=require",
    { host: "ep-cool-name-123456.eu-central-1.aws.neon.tech", user: "owner", database: "neondb" },
  ],
  [
    "Supabase, direct",
    "postgresql://postgres:pw@db.abcdefghijkl.supabase.co:5432/postgres",
    { host: "db.abcdefghijkl.supabase.co", port: 5432, user: "postgres", database: "postgres" },
  ],
  [
    "Supabase, session pooler",
    "postgresql://postgres.abcdefghijkl:pw@aws-0-eu-central-1.pooler.supabase.com:5432/postgres",
    { host: "aws-0-eu-central-1.pooler.supabase.com", port: 5432, user: "postgres.abcdefghijkl" },
  ],
  [
    "Supabase, transaction pooler",
    "postgresql://postgres.abcdefghijkl:pw@aws-0-eu-central-1.pooler.supabase.com:6543/postgres?pgbouncer=true",
    { fault: /pgbouncer is not supported: set pool_mode=transaction in place of it/ },
  ],
  [
    "Supabase by Vercel",
    "postgres://postgres.abc:pw@aws-0-us-east-1.pooler.supabase.com:6543/postgres?sslmode=require&supa=base-pooler.x",
    { host: "aws-0-us-east-1.pooler.supabase.com", port: 6543, database: "postgres" },
  ],
  [
    "Amazon RDS",
    "postgresql://master:pw@db.c1.eu-central-1.rds.amazonaws.com:5432/app?sslmode=require",
    { host: "db.c1.eu-central-1.rds.amazonaws.com", port: 5432, user: "master", database: "app" },
  ],
  [
    "Cloud SQL, socket",
    "postgresql://u:pw@/app?host=/cloudsql/project:region:instance",
    { host: "/cloudsql/project:region:instance", user: "u", database: "app" },
  ],
  [
    "Cloud SQL, socket, with a host that does not count",
    "postgresql://u:pw@localhost/app?host=/cloudsql/project:region:instance",
    { host: "/cloudsql/project:region:instance", user: "u", database: "app" },
  ],
  [
    "Azure",
    "postgres://admin%40server:pw@server.postgres.database.azure.com:5432/app?sslmode=require",
    { host: "server.postgres.database.azure.com", port: 5432, user: "admin@server" },
  ],
  [
    "Heroku",
    "postgres://uabc:p0123@ec2-1-2-3-4.compute-1.amazonaws.com:5432/d0123",
    { host: "ec2-1-2-3-4.compute-1.amazonaws.com", port: 5432, user: "uabc", database: "d0123" },
  ],
  [
    "Render",
    "postgresql://u:pw@dpg-abc-a.frankfurt-postgres.render.com/app_x1y2",
    { host: "dpg-abc-a.frankfurt-postgres.render.com", database: "app_x1y2" },
  ],
  [
    "DigitalOcean",
    "postgresql://doadmin:AVNS_x@db-fra1-12345-do-user-1-0.b.db.ondigitalocean.com:25060/defaultdb?sslmode=require",
    { port: 25060, user: "doadmin", database: "defaultdb" },
  ],
  [
    "Railway",
    "postgresql://postgres:pw@monorail.proxy.rlwy.net:12345/railway",
    { host: "monorail.proxy.rlwy.net", port: 12345, database: "railway" },
  ],
  [
    "Fly",
    "postgres://app:pw@app-db.flycast:5432/app?sslmode=disable",
    { host: "app-db.flycast", port: 5432, user: "app", database: "app" },
  ],
  [
    "Aiven",
    "postgres://avnadmin:AVNS_x@pg-1-project.h.aivencloud.com:12691/defaultdb?sslmode=require",
    { host: "pg-1-project.h.aivencloud.com", port: 12691, database: "defaultdb" },
  ],
  [
    "CockroachDB",
    "postgresql://root@free-tier.gcp.cockroachlabs.cloud:26257/defaultdb?sslmode=verify-full&options=--cluster%3Dname-123",
    { host: "free-tier.gcp.cockroachlabs.cloud", port: 26257, user: "root" },
  ],
  [
    "Prisma",
    "postgresql://u:pw@h:5432/app?schema=public&connection_limit=1&sslaccept=strict",
    { fault: /schema .*search_path.*; connection_limit .*own; sslaccept .*sslmode/ },
  ],
  [
    "Doctrine",
    "postgresql://u:pw@h:5432/app?serverVersion=16&charset=utf8",
    { host: "h", port: 5432, database: "app" },
  ],
  ["node-postgres", "postgres://u:pw@h/app?sslmode=no-verify", { fault: /sslmode must be/ }],
];

for (const [provider, url, { fault, ...expected }] of PROVIDERS) {
  test(`the URL of ${provider} ${fault ? "is refused by a sentence" : "is read"}`, () => {
    if (fault) {
      assert.throws(() => readUrl(url), fault);
      return;
    }
    assert.equal(loadConfig({ DATABASE_URL: url }).databaseUrl, url);
    const { addresses, user, database, settings } = readUrl(url);
    const [{ host, port } = {}] = addresses;
    assert.deepEqual({ host, port, user, database, ...expected }, { host, port, user, database });
    assert.deepEqual(Object.keys(settings), provider === "CockroachDB" ? ["cluster"] : []);
  });
}

for (const url of [
  "host=h dbname=d",
  "jdbc:postgresql://h/d",
  "postgresql+psycopg://u:p@h/d",
].concat(
  ...["postgres://u:p/ss@h/d", "postgres://u:p?ss@h/d", '"postgres://u:p@h/d"', "postgres://h:x/d"],
)) {
  test(`${url} is no URL of a database`, () => {
    assert.throws(
      () => loadConfig({ DATABASE_URL: url }),
      /DATABASE_URL must be a postgres:\/\/ or postgresql:\/\/ URL, with \/ and \? in a password as %2F and %3F/,
    );
    assert.throws(() => readUrl(url), /^Error: the database's URL: it has not the form of a URL$/);
  });
}

test("a port of a host that no host has is a fault of the URL", () => {
  const DATABASE_URL = "postgres://u@one:5432,two:543210/d";
  assert.throws(() => loadConfig({ DATABASE_URL }), /DATABASE_URL: a port must be from 1 to 65535/);
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
const VERIFIED = { rejectUnauthorized: true };

for (const [query, ways] of [
  ["", [false]],
  ["?sslmode=disable", [false]],
  ["?sslmode=allow", [false, anyone]],
  ["?sslmode=prefer", [anyone, false]],
  ["?sslmode=require", [anyone]],
  ["?sslmode=verify-full", [VERIFIED]],
  ["?sslmode=verify-full&sslrootcert=system", [VERIFIED]],
  ["?sslrootcert=system", [VERIFIED]],
  ["?ssl=true", [VERIFIED]],
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
  ["?port=0", /a port must be from 1 to 65535/],
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
