import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { aFolder, CUSTOMER, ORDER, typeFile } from "../support/event-types.ts";
import { runProgram } from "../support/program.ts";
import { startService } from "../support/service.ts";
import { aPartner, aRig } from "../support/rig.ts";

const SHOP = { "order.created.json": ORDER, "customer.changed.json": CUSTOMER };

test("a start with a bad folder prints all its faults and ends with status 1", async (t) => {
  const folder = await aFolder(t, { "Bad.json": "{", "a.b.json": typeFile({ type: "none" }) });
  const env = { ...(await aRig(t)), EVENT_TYPES: folder, PORT: "0", OPERATOR_PORT: "0" };
  const { status, stderr } = await runProgram(["serve"], env);
  assert.equal(status, 1);
  for (const fault of [
    /Bad\.json: the name/,
    /Bad\.json: is not valid JSON/,
    /a\.b\.json: schema\/type/,
  ]) {
    assert.match(stderr, fault);
  }
  assert.doesNotMatch(stderr, /^\s+at /m);
});

test("a dispatcher and the commands need no folder", async (t) => {
  const env = { ...(await aRig(t)), EVENT_TYPES: "/nowhere/types" };
  const program = await startService(t, { ...env, ROLE: "dispatcher" });
  const { status, stderr } = await runProgram(["org", "list"], env);
  assert.deepEqual([status, stderr], [0, ""]);
  await program.stop();
});

test("partners subscribe to configured types, and the start names types without a file", async (t) => {
  const folder = await aFolder(t, SHOP);
  const rig = { ...(await aRig(t)), EVENT_TYPES: folder };
  const program = await startService(t, rig);
  const partner = await aPartner(program, "acme");
  const subscribe = (...events: string[]) =>
    partner.ask("/webhooks", { method: "POST", body: { url: "https://127.0.0.1/hooks", events } });
  assert.equal((await subscribe("order.created")).status, 201);
  const refused = await subscribe("order.unheard");
  assert.equal(refused.status, 422);
  assert.match(JSON.stringify(refused.body), /vc\.test\.ping, customer\.changed, order\.created/);
  const listed = await runProgram(["event", "types"], rig);
  assert.match(listed.stdout, /order\.created +An order was placed/);
  await program.stop();

  await rm(join(folder, "order.created.json"));
  const again = await startService(t, rig);
  const warning = again.log.find(({ event_types }) => event_types !== undefined);
  assert.deepEqual(warning?.["event_types"], ["order.created"]);
  await again.stop();
});

test("a folder is checked without a database, and also against an older folder", async (t) => {
  const older = await aFolder(t, SHOP);
  const newer = await aFolder(t, { "order.created.json": typeFile({ type: "object" }) });
  const check = (env: Record<string, string>, ...args: string[]) =>
    runProgram(["event", "types", "--check", ...args], {
      DATABASE_URL: "postgres://127.0.0.1:1/no",
      ...env,
    });

  assert.deepEqual(await check({ EVENT_TYPES: older }), {
    status: 0,
    stdout: "2 event types are valid.\n",
    stderr: "",
  });
  const broken = await check({}, newer, "--against", older);
  assert.equal(broken.status, 1);
  assert.match(broken.stderr, /customer\.changed\.json: the type is removed/);
  assert.match(broken.stderr, /order\.created\.json: \/total: the member is removed/);
  const absent = await check({}, newer, "--against", "/nowhere/types");
  assert.match(absent.stderr, /^error: \/nowhere\/types:\n {2}cannot be read/);
  assert.match((await check({})).stderr, /specify a folder/);
  const misused = await runProgram(["event", "types", "--against", older], {});
  assert.equal(misused.status, 2);
});
