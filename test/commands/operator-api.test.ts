import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test, type TestContext } from "node:test";
import { OperatorApi } from "../../src/commands/operator-api.ts";
import { operatorApiOverHttp } from "../../src/start/operator-api.ts";
import { createCommandLine } from "../support/command-line.ts";
import { createDatabase } from "../support/database.ts";
import { createEngine } from "../support/engine.ts";
import { freePort, openPort } from "../support/free-port.ts";
import { OPERATORS, PUBLISHER, READER, startOperatorApi } from "../support/operator-api.ts";
import { runProgram } from "../support/program.ts";

const { deps } = await createEngine(await createDatabase());

/** A command line with this token, and the log of its service. */
async function through(t: TestContext, token: string) {
  const { app, logged } = startOperatorApi(t, deps);
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  return { ...lineTo(url, token), logged, url };
}

function lineTo(url: string, token = OPERATORS[0]?.token ?? "", answerMs?: number) {
  return createCommandLine(deps, {
    withOperatorApi: (use) => use(new OperatorApi(operatorApiOverHttp({ url, token }, answerMs))),
  });
}

test("a change by the command line is recorded under the name of its token", async (t) => {
  const { run, logged } = await through(t, OPERATORS[1]?.token ?? "");
  assert.equal((await run("org", "create", "acme")).status, 0);
  const change = logged.find((line) => line["action"] === "create_organization");
  assert.equal(change?.["operator"], "bob");
});

test("an error is one line with the request's id, which is in the service's log", async (t) => {
  const { run, logged } = await through(t, OPERATORS[0]?.token ?? "");
  const { status, stderr } = await run("delivery", "show", "dlv_x");
  const [, id] = /^error: There is no such delivery\. \(request (\S+)\)\n$/.exec(stderr) ?? [];
  assert.equal(status, 1);
  assert.ok(logged.some((line) => line["request_id"] === id));
});

test("a token whose role does not permit a command gets a plain error", async (t) => {
  const reader = await through(t, READER.token);
  assert.equal((await reader.run("org", "list")).status, 0);
  const refused = await reader.run("org", "create", "globex");
  assert.match(refused.stderr, /^error: A token with the role read may not do this\. \(request /);
  const publisher = await through(t, PUBLISHER.token);
  assert.match((await publisher.run("key", "list")).stderr, /role publish may not/);
  const wrong = await through(t, "x".repeat(40));
  assert.match(
    (await wrong.run("key", "list")).stderr,
    /^error: The operator token is missing or wrong/,
  );
});

test("typed ids cannot change the path of a request", async (t) => {
  const { run } = await through(t, OPERATORS[0]?.token ?? "");
  const { status, stderr } = await run("delivery", "show", "../organizations?x=1#");
  assert.equal(status, 1);
  assert.match(stderr, /^error: There is no such delivery/);
});

test("an error names a server that is down, silent, foreign or redirecting, and no redirect gets the token", async (t) => {
  assert.match(
    (await lineTo(`http://127.0.0.1:${await freePort()}`).run("org", "list")).stderr,
    /^error: PARTNER_API_URL http:\/\/127\.0\.0\.1:\d+: .*ECONNREFUSED/,
  );
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(request.url ?? "");
    if (request.url?.includes("/keys")) response.writeHead(302, { location: "/elsewhere" }).end();
    else if (request.url?.includes("/organizations")) response.end("<html>");
  });
  const url = `http://127.0.0.1:${await openPort(t, server)}`;
  const { run } = lineTo(url, undefined, 50);
  assert.match((await run("delivery", "list")).stderr, /no response within 0\.05 s/);
  assert.match(
    (await lineTo(url).run("org", "list")).stderr,
    /not a response of the operator API \(status 200\)/,
  );
  assert.equal((await lineTo(url).run("key", "list")).status, 1);
  assert.ok(!seen.includes("/elsewhere"));
});

test("with PARTNER_API_URL the program uses the service and needs no database", async (t) => {
  const { url } = await through(t, "");
  const [{ token } = { token: "" }] = OPERATORS;
  const env = { PARTNER_API_URL: `${url}/`, PARTNER_API_TOKEN: token, DATA_DIR: "/nowhere/at/all" };
  assert.equal((await runProgram(["org", "create", "initech"], env)).status, 0);
  assert.match((await runProgram(["org", "list"], env)).stdout, /initech/);
  const reseal = await runProgram(["reseal"], env);
  assert.equal(reseal.stderr, "error: this command needs the database: unset PARTNER_API_URL\n");

  const without = await runProgram(["org", "list"], { ...env, PARTNER_API_TOKEN: "" });
  assert.match(
    without.stderr,
    /PARTNER_API_URL and PARTNER_API_TOKEN must both be set, or neither/,
  );
  const plain = await runProgram(["org", "list"], {
    ...env,
    PARTNER_API_URL: "http://10.0.0.1:8081",
  });
  assert.match(plain.stderr, /PARTNER_API_URL must be the https URL/);
});
