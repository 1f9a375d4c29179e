// Depends on: src

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { column } from "../support/columns.ts";
import { type Line, startListener } from "../support/listener.ts";
import { ENTRY, runProgram } from "../support/program.ts";
import { startService } from "../support/service.ts";
import { aPartner, aRig } from "../support/rig.ts";
import { openPort } from "../support/free-port.ts";

type Partner = Awaited<ReturnType<typeof aPartner>>;

/** A partner whose subscription leads to a listener that ended, and the settings to start it again. */
async function aRehearsal(t: TestContext, settings: Record<string, string> = {}) {
  const rig = await aRig(t);
  const env = { DATA_DIR: rig["DATA_DIR"] ?? "" };
  const first = await startListener(t, ["--port", "0"], env);
  const program = await startService(t, {
    ...rig,
    EGRESS_CA_FILE: join(env.DATA_DIR, "listen", "ca.pem"),
    RETRY_DELAYS: "0s,0s,0s",
    ...settings,
  });
  const partner = await aPartner(program, "acme");
  const subscription = await partner.subscribe(first.url);
  assert.equal(await first.end(), 0);

  const ping = async () => (await partner.ping(subscription)).body["event_id"];
  const listen = (...args: string[]) => startListener(t, ["--port", first.port, ...args], env);
  return { partner, subscription, ping, listen, dataDir: env.DATA_DIR };
}

async function failuresOf(partner: Partner, subscriptionId: string, eventId: unknown) {
  const { body } = await partner.ask(`/webhooks/${subscriptionId}/failures?limit=200`);
  return (body["items"] as { event_id: string; attempt: number; reason: string }[])
    .filter(({ event_id }) => event_id === eventId)
    .map(({ attempt, reason }) => `${attempt} ${reason}`)
    .reverse();
}

test("a partner rehearses refusals with the listener, verifies each attempt, and finds them in the audit", async (t) => {
  const { partner, subscription, ping, listen } = await aRehearsal(t);
  const { id, secret } = subscription;

  const REHEARSALS: [args: string[], reason: string, status: number | null][] = [
    [["--status", "410"], "http_410", 410],
    [["--drop"], "connection_reset", null],
  ];
  for (const [args, reason, status] of REHEARSALS) {
    const listener = await listen("--secret", secret, "--fail-first", "2", ...args);
    const eventId = await ping();
    const seen = await listener.attemptsOf(eventId, 3);
    assert.deepEqual(
      seen.map(({ attempt, verdict, answer }) => [attempt, verdict, answer.status]),
      [
        [1, "valid", status],
        [2, "valid", status],
        [3, "valid", 204],
      ],
    );
    assert.deepEqual(await failuresOf(partner, id, eventId), [`1 ${reason}`, `2 ${reason}`]);
    assert.equal(await listener.end(), 0);
  }
});

test("a listener learns a secret while it runs, and after a restart shows the service's attempt numbers", async (t) => {
  const { subscription, ping, listen } = await aRehearsal(t);
  const listener = await listen("--fail-first", "1");
  const verdicts = async () => {
    const seen = await listener.attemptsOf(await ping(), 2);
    return seen.map(({ attempt, verdict }) => [attempt, verdict]);
  };
  assert.deepEqual(await verdicts(), [
    [1, "unverified"],
    [2, "unverified"],
  ]);
  listener.type("not a secret");
  listener.type(subscription.secret);
  await listener.lines.until((all) => all.filter(({ type }) => type === "secret")[1]);
  assert.deepEqual(await verdicts(), [
    [1, "valid"],
    [2, "valid"],
  ]);
  assert.equal(await listener.end(), 0);
});

test("a listener forwards to the partner's program, records, and replays to it", async (t) => {
  const { partner, subscription, ping, listen, dataDir } = await aRehearsal(t);
  const statuses = [500, 202];
  const program = await aProgram(t, () => statuses.shift() ?? 204);
  const file = join(dataDir, "deliveries.jsonl");
  const forwarding = ["--forward-to", program.url, "--secret", subscription.secret];

  const listener = await listen(...forwarding, "--record", file);
  const eventId = await ping();
  const seen = await listener.attemptsOf(eventId, 2);
  assert.deepEqual(
    seen.map(({ verdict, answer }) => [verdict, answer.status]),
    [
      ["valid", 500],
      ["valid", 202],
    ],
  );
  assert.deepEqual(await failuresOf(partner, subscription.id, eventId), ["1 http_500"]);
  assert.equal(await listener.end(), 0);
  assert.deepEqual(program.verdicts(subscription.secret), [true, true]);

  const { status, stdout } = await runProgram(["listen", ...forwarding, "--replay", file], {});
  assert.equal(status, 0);
  const line = `204  vc.test.ping  ${String(eventId)}\n`;
  assert.equal(stdout, line + line);
  assert.deepEqual(program.verdicts(subscription.secret), [true, true, true, true]);
});

test("a stopped listener waits for no program and shows nothing more", async (t) => {
  const { ping, listen } = await aRehearsal(t);
  const program = createServer();
  const port = await openPort(t, program);
  const listener = await listen("--forward-to", `http://127.0.0.1:${port}/`);
  const requested = once(program, "request");
  await ping();
  await requested;
  assert.equal(await listener.end(), 0);
  assert.deepEqual(column(listener.lines.all, "type"), ["listening"]);
});

/** A partner's program without TLS. */
async function aProgram(t: TestContext, statusOf: () => number) {
  const got: { signature: string; timestamp: string; body: Buffer }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { "x-vc-signature": signature, "x-vc-timestamp": timestamp } = request.headers;
      const body = Buffer.concat(chunks);
      got.push({ signature: String(signature), timestamp: String(timestamp), body });
      response.writeHead(statusOf()).end();
    });
  });
  return {
    url: `http://127.0.0.1:${await openPort(t, server)}/hooks`,
    /** Whether all requests so far carry a valid signature. */
    verdicts: (secret: string) =>
      got.map(({ signature, timestamp, body }) => {
        const mac = createHmac("sha256", secret).update(`${timestamp}.`).update(body);
        return signature === `sha256=${mac.digest("hex")}`;
      }),
  };
}

test("a listener whose output is closed ends silently", async (t) => {
  const { DATA_DIR = "" } = await aRig(t);
  const program = `import("${ENTRY}").then(({ main }) => main(["listen", "--json", "--port", "0"]))`;
  const line = `{ "$0" --input-type=module -e "$1"; echo "status $?" >&2; } | head -1`;
  const shell = spawn("sh", ["-c", line, process.execPath, program], {
    env: { PATH: process.env["PATH"], DATA_DIR },
  });
  const ended = once(shell, "close");
  const [first] = (await once(createInterface(shell.stdout), "line")) as [string];
  const { port } = new URL((JSON.parse(first) as Line).url);
  let said = "";
  shell.stderr.on("data", (text: Buffer) => (said += text.toString()));

  while (await isListening(Number(port))) await sleep(20); // The listener prints something each time. At first, `head` may still be running.
  await ended;
  assert.equal(said, "status 0\n");
});

/** Returns true if a connection succeeds. */
function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "localhost", () => socket.end());
    socket.on("error", () => undefined).on("close", (hadError) => resolve(!hadError));
  });
}

test("a partner rehearses a slow receiver, and sees that the sender closed the connection", async (t) => {
  const { partner, subscription, ping, listen } = await aRehearsal(t, { ATTEMPT_TIMEOUT: "1s" });
  const listener = await listen("--delay", "1h");
  const eventId = await ping();
  await listener.lines.until((all) => all.find(({ type }) => type === "sender_gone"));
  await listener.attemptsOf(eventId, 2);
  const [first] = await failuresOf(partner, subscription.id, eventId);
  assert.equal(first, "1 timeout");
  assert.equal(await listener.end(), 0);
});
