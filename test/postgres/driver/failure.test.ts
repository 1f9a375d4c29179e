import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { type TestContext, test } from "node:test";
import { inspect } from "node:util";
import pg from "pg";
import { explainDatabaseFault } from "../../../src/observe/outage.ts";
import { connect, isUnavailable } from "../../../src/postgres/database.ts";
import { failureAt } from "../../../src/postgres/driver/failure.ts";
import { createDatabase, openPool } from "../../support/database.ts";
import { aGate } from "../../support/database-gate.ts";
import { freePort } from "../../support/free-port.ts";

async function saidBy(t: TestContext, hosts: string, query?: string): Promise<string> {
  return (await errorOf(t, hosts, query)).message;
}

/** The error of a start that cannot reach its database. */
async function errorOf(t: TestContext, hosts: string, query = ""): Promise<Error> {
  const pool = openPool(t, `postgres://somebody@${hosts}/none${query}`);
  const error = await pool`select 1`.then(
    () => assert.fail("it works"),
    (error: unknown) => error as Error,
  );
  assert.ok(isUnavailable(error), error.message);
  return error;
}

/** A server that answers each message with the next of these, and closes the connection after the last. */
async function aServer(t: TestContext, ...words: string[]): Promise<string> {
  const server = createServer((socket) => {
    const left = [...words];
    socket.on("error", () => undefined);
    socket.on("data", () => {
      socket.write(Buffer.from(left.shift() ?? "", "latin1"));
      if (left.length === 0) socket.end();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function errorMessage(code: string, words: string): string {
  const fields = `SFATAL\0C${code}\0M${words}\0\0`;
  return `E\0\0\0${String.fromCharCode(fields.length + 4)}${fields}`;
}

test("an error names a host where nothing listens", async (t) => {
  const host = `127.0.0.1:${await freePort()}`;
  assert.equal(await saidBy(t, host), `${host}: connect ECONNREFUSED ${host}`);
});

test("an impossible port of PGPORT ends the start with an error, and the pool can be closed", async (t) => {
  const before = { ...process.env };
  t.after(() => (process.env = before));
  process.env["PGPORT"] = "99999";
  const pool = connect("postgres://somebody@127.0.0.1/none", { max: 1, name: "test" });
  const error = await pool`select 1`.then(
    () => assert.fail("it works"),
    (error: unknown) => explainDatabaseFault("DATABASE_URL", error),
  );
  assert.match(String(error), /DATABASE_URL: 127\.0\.0\.1:99999: .*To repair: correct PGPORT/);
  await pool.end();
});

test("an error says that nobody has named the role", async (t) => {
  const { user } = pg.defaults;
  t.after(() => (pg.defaults.user = user));
  pg.defaults.user = undefined;
  const pool = openPool(t, "postgres://127.0.0.1:1/none");
  await assert.rejects(pool`select 1`.execute(), /: neither the database's URL nor PGUSER names a/);
});

test("an error quotes the server's refusal", async (t) => {
  const host = await aServer(t, errorMessage("08P01", "unsupported startup parameter: jit"));
  assert.equal(await saidBy(t, host), `${host}: unsupported startup parameter: jit`);
});

test("an error says that nobody has given the password that the server asks for", async (t) => {
  const before = { ...process.env };
  t.after(() => (process.env = before));
  Object.assign(process.env, { PGPASSFILE: "/nowhere", PGPASSWORD: "" });
  const scram = ["R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0", "R\0\0\0\x11\0\0\0\x0br=a,s=b,i=1"];
  for (const words of [scram, [errorMessage("28P01", "empty password returned by client")]]) {
    const pool = openPool(t, `postgres://somebody@${await aServer(t, ...words)}/none`);
    await assert.rejects(pool`select 1`.execute(), (error: Error) => {
      assert.match(error.message, /: the server asks for a password, and neither the database's/);
      return !isUnavailable(error); // It does not go away by itself.
    });
  }
});

test("of a long refusal the beginning is kept in every text of the error and of its cause", async (t) => {
  const fields = ["SFATAL", "C57P03", ...["M", "D", "H", "R"].map((f) => f + "x".repeat(100_000))];
  const words = Buffer.from(`${fields.join("\0")}\0\0`);
  const head = Buffer.alloc(5, "E");
  head.writeUInt32BE(words.length + 4, 1);
  const host = await aServer(t, Buffer.concat([head, words]).toString("latin1"));
  const error = await errorOf(t, host);
  assert.match(error.message, /^127\.0\.0\.1:\d+: x{1000}…$/);
  assert.ok(inspect(error, { depth: null }).length < 10_000);
});

test("long errors of statements and connections are cut, whether PostgreSQL or another program wrote them", async () => {
  const db = await createDatabase();
  const failing = db.unsafe("do $$ begin raise exception '%', repeat('x', 100000); end $$");
  await assert.rejects(failing, /^error: x{1000}…$/);
  const { message } = failureAt({ host: "h", port: 1 }, new Error("x".repeat(100_000)));
  assert.match(message, /^h:1: x{1000}…$/);
});

test("an error names a server without the required TLS", async (t) => {
  const host = await aServer(t, "N");
  const said = await saidBy(t, host, "?sslmode=require");
  assert.equal(said, `${host}: The server does not support SSL connections`);
});

test("an error names a folder without a socket", async (t) => {
  assert.match(await saidBy(t, "%2Fnowhere:5432"), /^\/nowhere: connect ENOENT /);
});

test("an error lists each host with its reason, and states that none is the primary", async (t) => {
  const [nobody, starting] = [
    `127.0.0.1:${await freePort()}`,
    await aServer(t, errorMessage("57P03", "the database system is starting up")),
  ];
  const refused = `${nobody}: connect ECONNREFUSED ${nobody}`;
  const starts = `${starting}: the database system is starting up`;
  assert.equal(
    await saidBy(t, `${nobody},${starting}`),
    `no host is available (${refused}; ${starts})`,
  );

  const gate = await aGate(t, await createDatabase({ max: 1 }));
  gate.demote();
  const { host, username, password, pathname } = new URL(gate.url);
  const pool = connect(`postgres://${username}:${password}@${nobody},${host}${pathname}`, {
    max: 1,
    name: "test",
  });
  t.after(() => pool.end({ timeout: 1 }));
  await assert.rejects(pool`select 1`.execute(), {
    message: `no host is the primary (${refused}; ${host}: this is a standby)`,
  });
});
