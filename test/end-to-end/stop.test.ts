import assert from "node:assert/strict";
import { once } from "node:events";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { lockSchema } from "../../src/schema/migrate.ts";
import { aGate } from "../support/database-gate.ts";
import { openPool } from "../support/database.ts";
import { ADMIN_TOKEN, run, startProgram } from "../support/program.ts";
import { aClient, parseAll, rawRequest } from "../support/raw-http.ts";
import { aPartner, aRig } from "../support/rig.ts";

const HOST = "Host: localhost";
const HEALTH = rawRequest("GET /healthz HTTP/1.1", [HOST]);

/** A request with half of a body of two bytes. */
function halfABody(path: string, token: string): string {
  const head = ["Content-Type: application/json", "Content-Length: 2"];
  return rawRequest(
    `POST ${path} HTTP/1.1`,
    [HOST, `Authorization: Bearer ${token}`, ...head],
    "{",
  );
}

test("clients with half a request do not delay a stop, and its status is 0", async (t) => {
  const program = await startProgram(t, await aRig(t));
  const { token } = await aPartner(program, "acme");
  const halves = [
    [program.partnerUrl, "GET /healthz HT"],
    [program.partnerUrl, halfABody("/api/v1/partner/webhooks", token)],
    [program.operatorUrl, "GET /healthz HT"],
    [program.operatorUrl, halfABody("/api/v1/admin/organizations", ADMIN_TOKEN)],
  ] as const;
  const answers = await Promise.all(halves.map(([url, half]) => sendHalf(t, url, half)));

  assert.equal(await program.end("SIGTERM"), 0);
  for (const [index, answered] of answers.entries()) {
    const statuses = (await answered()).map(({ status }) => status);
    assert.deepEqual(statuses, [200, 503], halves[index]?.[1]);
  }
  // The log line of an interrupted request may follow.
  assert.ok(program.log.some(({ msg }) => msg === "stopped"));
});

/**
 * Sends half a request after a complete one. Returns a function that reads all answers until the connection
 * ends.
 */
async function sendHalf(t: TestContext, baseUrl: string, half: string) {
  const client = aClient(t, baseUrl);
  let text = "";
  client.setEncoding("latin1").on("data", (more: string) => (text += more));
  client.write(HEALTH);
  await once(client, "data");
  client.write(half);
  const ended = once(client, "close");
  return async () => {
    await ended;
    return parseAll(text);
  };
}

test("a draining node serves requests, is not ready on either listener, and then stops with status 0", async (t) => {
  const program = await startProgram(t, { ...(await aRig(t)), DRAIN: "2s" });
  const { ask } = await aPartner(program, "acme");
  const ended = program.end("SIGTERM");
  for (const url of [program.partnerUrl, program.operatorUrl]) {
    let answer = await fetch(`${url}/readyz`);
    for (; answer.status === 200; answer = await fetch(`${url}/readyz`)) await sleep(20);
    const { checks } = (await answer.json()) as { checks: unknown };
    assert.deepEqual(checks, [{ name: "stopping", ok: false }]);
  }
  const { status, headers } = await ask("/me");
  assert.deepEqual([status, headers.get("connection")], [200, "close"]);
  assert.equal(await ended, 0);
});

test("a second signal ends a node that drains", async (t) => {
  const program = await startProgram(t, { ...(await aRig(t)), DRAIN: "1h" });
  const drains = async () => (await fetch(`${program.partnerUrl}/readyz`)).status === 503;
  program.process.kill("SIGTERM");
  while (!(await drains())) await sleep(20);
  const ended = once(program.process, "close");
  // npm may send a copy of the first signal at once.
  while (program.process.exitCode === null) {
    program.process.kill("SIGTERM");
    await Promise.race([drains().catch(() => false), ended]);
  }
  await ended;
  assert.equal(program.process.exitCode, 1);
  const told = "error: ended by a second signal: unfinished attempts will be repeated\n";
  assert.equal(program.complaint(), told);
});

test("a stop of a start that waits for the schema says that the start had not ended", async (t) => {
  const rig = await aRig(t, { SHUTDOWN_GRACE: "500ms", PORT: "0", OPERATOR_PORT: "0" });
  const owner = openPool(t, rig["MIGRATION_DATABASE_URL"] ?? "");
  await owner.begin(async (tx) => {
    await lockSchema(tx);
    const child = run(["serve"], rig);
    let complaint = "";
    child.stderr.on("data", (text: Buffer) => (complaint += text.toString()));
    const ended = once(child, "close");
    const waiters = () => tx`
      select from pg_locks join pg_database d on d.oid = database
       where datname = current_database() and locktype = 'advisory' and not granted`;
    while ((await waiters()).length === 0) await sleep(20);
    child.kill("SIGTERM");
    await ended;
    assert.equal(
      complaint,
      "error: SHUTDOWN_GRACE is over: the start had not ended, and the next one continues\n",
    );
  });
});

test("a stop gives up its last writes if none of them ends, and its status is 0", async (t) => {
  const rig = await aRig(t, { SHUTDOWN_GRACE: "8s" });
  const program = await startProgram(t, rig);
  const { ask } = await aPartner(program, "acme");
  await ask("/me"); // The stop writes that the key was used, and the activity.
  await openPool(t, rig["MIGRATION_DATABASE_URL"] ?? "").begin(async (tx) => {
    await tx`lock table api_keys, activity_minutes, processes, event_type_nodes in share mode`;
    assert.equal(await program.end("SIGTERM"), 0, program.complaint());
  });
});

test("a stop gives up a database that is frozen, and its status is 0", async (t) => {
  const rig = await aRig(t, { SHUTDOWN_GRACE: "8s", ROLE: "api" });
  const gate = await aGate(t, openPool(t, rig["DATABASE_URL"] ?? ""));
  const program = await startProgram(t, { ...rig, DATABASE_URL: gate.url });
  gate.freeze();
  assert.equal(await program.end("SIGTERM"), 0, program.complaint());
});
