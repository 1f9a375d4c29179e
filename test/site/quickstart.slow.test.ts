// Depends on: src, site, docs, examples, packages

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { breakOff } from "../support/break-off.ts";
import { goSettings } from "../support/package-places.ts";
import { startProgram } from "../support/program.ts";
import { converse, rawRequest } from "../support/raw-http.ts";
import { requireProgram } from "../support/required.ts";
import { aPartner, aRig } from "../support/rig.ts";
import { ROOT } from "../support/root.ts";
import { aShell, type Shell } from "../support/shell.ts";
import { aTunnel } from "../support/tunnel.ts";

const LANGUAGES = [
  { language: "JavaScript", program: "node", version: "--version", ending: "mjs" },
  { language: "Python", program: "python3", version: "--version", ending: "py" },
  { language: "Go", program: "go", version: "version", ending: "go" },
] as const;

/** A newcomer with a key, a public HTTPS address and an empty folder. */
async function aNewcomer(t: TestContext) {
  const service = await startProgram(t, await aRig(t));
  const partner = await aPartner(service, "acme");
  const tunnel = await aTunnel(t);
  const shell = await aShell(t, {
    PARTNER_API: service.partnerUrl,
    PARTNER_TOKEN: partner.token,
    RECEIVER_URL: tunnel.url,
  });
  return { shell, tunnel };
}

async function subscribe(shell: Shell): Promise<void> {
  const { id, secret } = await shell.json("reference/createSubscription.sh");
  shell.env["SUBSCRIPTION_ID"] = String(id);
  shell.env["PARTNER_SECRET"] = String(secret);
}

const shown = async (sample: string) =>
  JSON.parse(await readFile(join(ROOT, "site/samples", sample), "utf8")) as object;

for (const { language, program, version, ending } of LANGUAGES) {
  test(`the quickstart in ${language} ends with a verified event in the partner's own code`, async (t) => {
    if (!(await requireProgram(t, "curl", ["--version"]))) return;
    if (!(await requireProgram(t, program, [version]))) return;
    const { shell, tunnel } = await aNewcomer(t);
    if (ending === "go") Object.assign(shell.env, await goSettings());

    const identity = await shell.json("reference/getIdentity.sh");
    assert.equal(identity["partner_org"], "acme");
    assert.deepEqual(Object.keys(identity), Object.keys(await shown("identity.json")));

    await shell.run(`get-receiver-${ending}.sh`);
    await subscribe(shell);
    const start = async (more: Record<string, string>) => {
      const receiver = await shell.start(`start-receiver-${ending}.sh`, { PORT: "0", ...more });
      const [, port] = await receiver.heard(/^receiving on port (\d+)$/);
      tunnel.leadTo(Number(port));
      return receiver;
    };

    const mistaken = await start({ PARTNER_SECRET: "whsec_of-another-subscription" });
    const refused = await shell.json("reference/sendTestEvent.sh");
    assert.deepEqual(Object.keys(refused), Object.keys(await shown("accepted.json")));
    await mistaken.heard(/^refused with 400: forged$/);
    await tunnel.passed.until((all) => all.find(({ status }) => status === 400));
    await mistaken.stop();

    const both = `whsec_of-another-subscription,${String(shell.env["PARTNER_SECRET"])}`;
    const receiver = await start({ PARTNER_SECRET: both }); // As during a rotation.
    const { event_id } = await shell.json("reference/sendTestEvent.sh");
    await receiver.heard(
      new RegExp(`^received vc\\.test\\.ping ${String(event_id)}: integration test$`),
    );

    const { items } = (await shell.json("reference/listFailures.sh")) as { items: object[] };
    const [failure] = items as { event_id: string; reason: string }[];
    assert.deepEqual([failure?.event_id, failure?.reason], [refused["event_id"], "http_400"]);
  });
}

const TOO_MANY_BYTES = 1024 * 1024 + 1;
const LENGTH = `Content-Length: ${TOO_MANY_BYTES}`;
const tooMuch = "x".repeat(TOO_MANY_BYTES);

const NEGATIVE = "Content-Length: -1";
const CHUNKED = "Transfer-Encoding: chunked";

/** Requests to each receiver: their headers and body, and the status and the reason in its log. */
const INVALID = {
  mjs: [
    { headers: [], body: "", status: 400, logged: "malformed" },
    { headers: [NEGATIVE], body: "", status: 400, logged: null }, // Node.js refuses it.
    { headers: [LENGTH], body: tooMuch, status: 413, logged: "more than 1 MiB" },
  ],
  py: [
    { headers: [], body: "", status: 411, logged: "no Content-Length" },
    { headers: [NEGATIVE], body: "", status: 411, logged: "no Content-Length" },
    { headers: [CHUNKED], body: "", status: 411, logged: "no Content-Length" },
    { headers: [LENGTH], body: "", status: 413, logged: "more than 1 MiB" },
  ],
  go: [
    { headers: [], body: "", status: 400, logged: "malformed" },
    { headers: [LENGTH], body: tooMuch, status: 413, logged: "more than 1 MiB, or cut off" },
  ],
};

for (const { language, program, version, ending } of LANGUAGES) {
  test(`the receiver in ${language} refuses invalid requests`, { timeout: 60_000 }, async (t) => {
    if (!(await requireProgram(t, "curl", ["--version"]))) return;
    if (!(await requireProgram(t, program, [version]))) return;
    const { shell } = await aNewcomer(t);
    if (ending === "go") Object.assign(shell.env, await goSettings());
    await shell.run(`get-receiver-${ending}.sh`);
    const settings = { PORT: "0", PARTNER_SECRET: "whsec_x" };
    const receiver = await shell.start(`start-receiver-${ending}.sh`, settings);
    const [, port = ""] = await receiver.heard(/^receiving on port (\d+)$/);
    for (const { headers, body, status, logged } of INVALID[ending]) {
      const head = ["Host: localhost", "Connection: close", ...headers];
      const bytes = rawRequest("POST /hooks HTTP/1.1", head, body);
      const [answer] = await converse(`http://127.0.0.1:${port}`, bytes);
      assert.equal(answer?.status, status, headers[0] ?? "no headers");
      if (logged) await receiver.heard(new RegExp(`^refused with ${status}: ${logged}$`));
    }
  });
}

test("a receiver handles a repeated event once and acknowledges both copies, with an aborted request in between", async (t) => {
  const { shell, tunnel } = await aNewcomer(t);
  await shell.run("get-receiver-mjs.sh");
  await subscribe(shell);
  const receiver = await shell.start("start-receiver-mjs.sh", { PORT: "0" });
  const [, port = ""] = await receiver.heard(/^receiving on port (\d+)$/);
  tunnel.leadTo(Number(port));
  await shell.json("reference/sendTestEvent.sh");
  await receiver.heard(/^received/);

  await breakOff(Number(port));
  const first = await tunnel.passed.until(([one]) => one);
  const again = await fetch(`http://127.0.0.1:${port}/`, {
    method: "POST",
    headers: first.headers as Record<string, string>,
    body: first.body,
  });
  assert.equal(again.status, 204);
  assert.equal(receiver.lines.all.filter((line) => line.startsWith("received")).length, 1);
});

test("a delivery looks as in the documentation", async (t) => {
  const { shell, tunnel } = await aNewcomer(t);
  await subscribe(shell);
  await shell.json("reference/sendTestEvent.sh");
  const text = await readFile(join(ROOT, "site/samples/delivery.http"), "utf8");
  const [head = "", body = ""] = text.split("\n\n");
  const names = head
    .split("\n")
    .slice(1)
    .map((line) => line.split(":")[0]?.toLowerCase() ?? "");
  const arrived = await tunnel.passed.until(([one]) => one);
  const OMITTED = ["connection", "content-length"];
  const actual = Object.keys(arrived.headers).filter((name) => !OMITTED.includes(name));
  assert.deepEqual(names.sort(), actual.sort());
  const envelope = JSON.parse(arrived.body.toString()) as object;
  assert.deepEqual(Object.keys(JSON.parse(body) as object), Object.keys(envelope));
});

test("the reference's calls list and delete the quickstart's subscription", async (t) => {
  const { shell } = await aNewcomer(t);
  await subscribe(shell);
  const list = async () =>
    JSON.parse(await shell.run("reference/listSubscriptions.sh")) as unknown[];
  assert.equal((await list()).length, 1);
  assert.equal(await shell.run("reference/deleteSubscription.sh"), "");
  assert.deepEqual(await list(), []);
});

test("a repeated call with an Idempotency-Key creates one subscription", async (t) => {
  const { shell } = await aNewcomer(t);
  const first = await shell.json("idempotency-key.sh");
  assert.match(String(first["secret"]), /^whsec_/);
  assert.deepEqual(await shell.json("idempotency-key.sh"), first);
  assert.equal(
    (JSON.parse(await shell.run("reference/listSubscriptions.sh")) as object[]).length,
    1,
  );
});

test("the reference's example of each call with our client works", async (t) => {
  const { shell } = await aNewcomer(t);
  await subscribe(shell);
  const run = (call: string) => shell.runModule(`reference/${call}.mjs`);
  assert.match(await run("getIdentity"), /partner_org: 'acme'/);
  assert.match(await run("createSubscription"), /secret: 'whsec_/);
  assert.match(await run("listSubscriptions"), /id: 'wh_[^]+id: 'wh_/);
  assert.match(await run("sendTestEvent"), /event_id: 'evt_/);
  assert.match(await run("listFailures"), /^$|http_502/);
  assert.equal(await run("deleteSubscription"), "undefined\n");
  assert.equal(await run("sendTestEvent"), "not_found\n");
});
