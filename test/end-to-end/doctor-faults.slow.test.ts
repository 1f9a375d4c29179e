// Depends on: src
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test, type TestContext } from "node:test";
import { createDatabase, environmentOf, ownerOf } from "../support/database.ts";
import { startDnsServer } from "../support/dns-server.ts";
import { runProgram } from "../support/program.ts";
import { diagnose, startService } from "../support/service.ts";
import { aRig } from "../support/rig.ts";
import { openPort } from "../support/free-port.ts";

const FREE = { PORT: "0", OPERATOR_PORT: "0" };
const NOBODY = "postgres://127.0.0.1:1/x";

/** The output of `doctor` for a valid set-up with these changes. */
async function diagnosed(t: TestContext, changes: Record<string, string>) {
  return diagnose({ ...(await aRig(t)), ...FREE, ...changes });
}

/** A port of loopback that another program uses. */
async function takenPort(t: TestContext): Promise<string> {
  return String(
    await openPort(
      t,
      createServer((socket) => socket.destroy()),
    ),
  );
}

test("doctor warns of misspelt names and of a RETENTION shorter than the retries", async (t) => {
  const { stdout } = await diagnosed(t, { RETRY_DELAY: "1m", RETENTION: "1h" });
  assert.match(stdout, /^warn +configuration +RETRY_DELAY .* did you mean RETRY_DELAYS\?$/m);
  assert.match(stdout, /^warn +configuration +RETENTION \(1h\) is shorter than the retries/m);
});

test("doctor does not advise a shorter RETENTION without naming the history that it drops", async (t) => {
  const rig = { ...(await aRig(t)), ...FREE, MIGRATION_DATABASE_URL: "" };
  const { stdout } = await diagnose({ ...rig, RETENTION: "7d" });
  assert.match(
    stdout,
    /^FAULT +history .*keeps history for 30d.*set RETENTION=30d here, or .*permanently drops.* 7d$/m,
  );
});

test("doctor refuses an EGRESS_ALLOW that contains every address", async (t) => {
  const { status, stdout } = await diagnosed(t, { EGRESS_ALLOW: "0.0.0.0/0" });
  assert.equal(status, 1);
  assert.match(stdout, /^FAULT +egress +EGRESS_ALLOW /m);
});

test("doctor names a port in use and a HOST that does not resolve", async (t) => {
  const port = await takenPort(t);
  const operatorPort = await takenPort(t);
  const { stdout } = await diagnosed(t, { PORT: port, OPERATOR_PORT: operatorPort });
  assert.match(
    stdout,
    new RegExp(`^FAULT +partners' port +cannot .*:${port}: .* change PORT$`, "m"),
  );
  assert.match(
    stdout,
    new RegExp(`^FAULT +operators' port +.*${operatorPort}.* change OPERATOR_PORT$`, "m"),
  );

  const lost = await diagnosed(t, { HOST: "nowhere.invalid" });
  assert.match(
    lost.stdout,
    /^FAULT +partners' port +.*nowhere\.invalid.*no such host: change HOST/m,
  );
});

test("doctor accepts the ports of the running service", async (t) => {
  const rig = await aRig(t);
  const { partnerUrl, operatorUrl } = await startService(t, rig);
  const ports = { PORT: new URL(partnerUrl).port, OPERATOR_PORT: new URL(operatorUrl).port };
  const { stdout } = await diagnose({ ...rig, ...ports });
  assert.match(stdout, /^ok +partners' port +.* is in use by this service$/m);
  assert.match(stdout, /^ok +operators' port +.* is in use by this service$/m);
});

test("doctor names the resolvers that do not answer", async (t) => {
  const [alive, dead] = [await startDnsServer(t), await startDnsServer(t)];
  dead.setEverything("silence");
  const timing = { ATTEMPT_TIMEOUT: "1s" };
  const one = await diagnosed(t, { ...timing, DNS_SERVERS: `${alive.address},${dead.address}` });
  assert.match(
    one.stdout,
    new RegExp(`^warn +name servers +${dead.address} .*DNS_SERVERS.* not answer`, "m"),
  );
  const all = await diagnosed(t, { ...timing, DNS_SERVERS: dead.address });
  assert.match(
    all.stdout,
    new RegExp(`^FAULT +name servers +${dead.address} .*DNS_SERVERS.* not answer`, "m"),
  );
});

test("doctor says how many connections the workers open, and how many the database permits", async (t) => {
  const one = await diagnosed(t, { WORKERS: "1" });
  assert.match(one.stdout, /^ok +connections +up to 11 of the \d+ that the database permits$/m);
  const many = await diagnosed(t, { WORKERS: "200" });
  assert.match(
    many.stdout,
    /^FAULT +connections +WORKERS: the database permits \d+ .* set WORKERS to /m,
  );
  const db = await createDatabase({ max: 1 });
  await ownerOf(db).unsafe(`alter role ${db.options.user} connection limit 5`);
  const few = await diagnosed(t, environmentOf(db));
  assert.match(
    few.stdout,
    /^FAULT +connections +the database permits 5 connections, and a process opens up to 11: raise max_connections or the role's/m,
  );
});

test("doctor warns of a superuser as DATABASE_URL", async (t) => {
  const { MIGRATION_DATABASE_URL: owner = "" } = await aRig(t);
  const { stdout } = await diagnosed(t, { DATABASE_URL: owner, MIGRATION_DATABASE_URL: "" });
  assert.match(stdout, /^warn +database role +\w+ of DATABASE_URL is a superuser/m);
});

test("doctor names the variable and the repair of a database's fault", async (t) => {
  const db = await createDatabase();
  const { DATABASE_URL: good = "" } = environmentOf(db);
  const changed = (change: (url: URL) => void) => {
    const url = new URL(good);
    change(url);
    return url.href;
  };
  const ofService = async (DATABASE_URL: string) =>
    (await diagnosed(t, { DATABASE_URL, MIGRATION_DATABASE_URL: "" })).stdout;

  assert.match(await ofService(NOBODY), /^FAULT +database +DATABASE_URL: .*start PostgreSQL/m);
  const noHost = changed((url) => (url.hostname = "nowhere.invalid"));
  assert.match(await ofService(noHost), /^FAULT +database +DATABASE_URL: .*correct the host name/m);
  const noDatabase = changed((url) => (url.pathname = "/nothing_here"));
  assert.match(
    await ofService(noDatabase),
    /^FAULT +database +DATABASE_URL: .*create the database/m,
  );

  const owners = await diagnosed(t, { MIGRATION_DATABASE_URL: NOBODY });
  assert.match(owners.stdout, /^FAULT +database +MIGRATION_DATABASE_URL: .*start PostgreSQL/m);
});

test("doctor does not call a role without rights an old schema", async (t) => {
  const db = await createDatabase();
  const owner = ownerOf(db);
  await owner`revoke all on all tables in schema public from ${owner(db.options.user)}`;
  const rig = { ...environmentOf(db), MIGRATION_DATABASE_URL: "" };
  const without = await diagnosed(t, rig);
  assert.match(
    without.stdout,
    /^FAULT +database +the role has no rights .* run `partner-api migrate`/m,
  );

  await owner`revoke usage on schema public from public`;
  await owner`revoke usage on schema public from ${owner(db.options.user)}`;
  const outside = await diagnosed(t, rig);
  assert.match(outside.stdout, /^FAULT +database +the role has no rights /m);
  assert.doesNotMatch(without.stdout + outside.stdout, /not up to date/);
});

test("serve on a port in use prints one line, before it opens anything", async (t) => {
  const port = await takenPort(t);
  for (const taken of [{ PORT: port }, { OPERATOR_PORT: port }]) {
    const rig = { ...(await aRig(t)), ...FREE, ...taken };
    const { status, stdout, stderr } = await runProgram(["serve"], rig);
    assert.equal(status, 1);
    assert.equal(stderr, `error: cannot listen on 127.0.0.1:${port}: the port is in use\n`);
    assert.equal(stdout, "");
  }
});
