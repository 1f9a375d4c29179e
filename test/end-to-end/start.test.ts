import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createDatabase, environmentOf, ownerOf } from "../support/database.ts";
import { ADMIN_TOKEN, runProgram, startProgram } from "../support/program.ts";
import { aPartner, aRig } from "../support/rig.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";
import { openPort } from "../support/free-port.ts";

async function aPortInUse(t: TestContext): Promise<string> {
  return String(await openPort(t, createServer()));
}

/** Starts the service with this environment and returns its error. */
async function complaint(env: Record<string, string>): Promise<string> {
  const { status, stdout, stderr } = await runProgram(["serve"], {
    ADMIN_TOKEN,
    PORT: "0",
    OPERATOR_PORT: "0",
    ...env,
  });
  assert.equal(status, 1);
  assert.doesNotMatch(stdout + stderr, /^\s+at /m, "no stack trace");
  return stderr;
}

test("a bad configuration is one message with every fault, and status 1", async () => {
  const text = await complaint({ PORT: "eighty", RETRY_DELAYS: "soon", ADMIN_TOKEN: "short" });
  for (const name of ["PORT", "RETRY_DELAYS", "ADMIN_TOKEN"]) assert.match(text, new RegExp(name));
  assert.doesNotMatch(text, /short/);
});

test("the service starts as a user without a name, as containers have", async (t) => {
  const nameless = [
    'import os from "node:os"',
    'import { syncBuiltinESMExports } from "node:module"',
    'os.userInfo = () => { throw new Error("uv_os_get_passwd returned ENOENT") }',
    "syncBuiltinESMExports()",
  ].join(";");
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(nameless)}`;
  const program = await startProgram(t, { ...(await aRig(t)), NODE_OPTIONS });
  assert.equal(await program.end("SIGTERM"), 0);
});

test("a database that refuses is one clear line", async () => {
  const text = await complaint({ DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" });
  assert.equal(text.trim().split("\n").length, 1);
  assert.match(text, /^error: DATABASE_URL: .*start PostgreSQL/);
});

test("a data folder that cannot be created is one clear line", async () => {
  const text = await complaint({ DATA_DIR: "/dev/null/data" });
  assert.equal(text.trim().split("\n").length, 1);
  assert.match(text, /\/dev\/null\/data/);
});

test("a file system without folders does not block the start", async () => {
  const text = await complaint({ DATA_DIR: "/proc/partner-api/data" });
  assert.equal(text.trim().split("\n").length, 1);
  assert.match(text, /\/proc\/partner-api/);
});

test("a port in use is one clear line, and the database is released", async (t) => {
  const rig = await aRig(t);
  const port = await aPortInUse(t);
  const text = await complaint({ ...rig, PORT: port });
  assert.equal(text.trim().split("\n").length, 1);
  assert.match(text, new RegExp(`127\\.0\\.0\\.1:${port}.*in use`));
});

test("a missing certificate file is one clear line", async (t) => {
  const text = await complaint({ ...(await aRig(t)), EGRESS_CA_FILE: "/nowhere/ca.pem" });
  assert.equal(text.trim().split("\n").length, 1);
  assert.match(text, /\/nowhere\/ca\.pem/);
});

test("a damaged certificate is one clear line", async (t) => {
  const rig = await aRig(t);
  const file = join(rig["DATA_DIR"] ?? "", "damaged.pem");
  await writeFile(file, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
  const text = await complaint({ ...rig, EGRESS_CA_FILE: file });
  assert.equal(text.trim().split("\n").length, 1);
  assert.match(text, /damaged\.pem/);
});

test("without its sealing keys a service refuses a database that holds sealed secrets", async (t) => {
  const rig = await aRig(t);
  const program = await startProgram(t, rig);
  const partner = await aPartner(program, "acme");
  await partner.subscribe("https://127.0.0.1/hooks");
  assert.equal(await program.end("SIGTERM"), 0);

  const empty = await aTemporaryFolder(t);
  assert.match(await complaint({ ...rig, DATA_DIR: empty }), /SEALING_KEYS/);
  const another = { ...rig, SEALING_KEYS: `another:${Buffer.alloc(32, 7).toString("base64")}` };
  assert.match(await complaint(another), /opens none of the database's secrets/);

  const again = await startProgram(t, rig);
  assert.equal(await again.end("SIGTERM"), 0);
});

/** Makes a program throw at SIGUSR2 where nothing catches it. */
const script = 'process.on("SIGUSR2", () => { throw new Error("nobody expects this"); })';
const THROWING = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(script)}` };

test("an unexpected error is logged and stops the service in order", async (t) => {
  const program = await startProgram(t, { ...(await aRig(t)), ...THROWING });
  assert.equal(await program.end("SIGUSR2"), 1);
  const [fatal, ...others] = program.log.filter(({ level }) => Number(level) >= 50);
  assert.match(JSON.stringify(fatal?.["err"]), /nobody expects this.*data:text/);
  assert.deepEqual(others, []);
  assert.equal(program.log.at(-1)?.["msg"], "stopped", program.complaint());
});

test("a command that creates the schema reports this on standard error, and needs no rights of PUBLIC", async () => {
  const db = await createDatabase();
  await ownerOf(db)`drop schema public cascade`;
  await ownerOf(db)`create schema public`;
  const { status, stdout, stderr } = await runProgram(["org", "list"], {
    ...environmentOf(db),
    SEALING_KEYS: `test:${Buffer.alloc(32).toString("base64")}`,
  });
  assert.deepEqual([status, stdout], [0, "There are no organizations yet.\n"]);
  assert.match(stderr, /^applied 0001_service\.sql$/m);
});

test("the line of the start names the documentation, the console and the token's file", async (t) => {
  const { DATA_DIR = "", ...rig } = await aRig(t);
  const readyOf = async (env: Record<string, string>) => {
    const program = await startProgram(t, { DATA_DIR, ...rig, ...env });
    const ready = program.log.find(({ msg }) => msg === "ready");
    await program.end("SIGTERM");
    return { program, ready };
  };
  const { program, ready } = await readyOf({ ADMIN_TOKEN: "" });
  assert.equal(ready?.["documentation"], `${program.partnerUrl}/docs`);
  assert.equal(ready["console"], `${program.operatorUrl}/console`);
  assert.match(String(ready["token_file"]), new RegExp(`^${DATA_DIR}/`));
  assert.equal((await readyOf({})).ready?.["token_file"], null);
});
