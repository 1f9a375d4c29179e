import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { mkdtemp, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Arrival } from "../../src/listen/arrival.ts";
import type { Forwarded } from "../../src/listen/forward.ts";
import { openRecording, readRecording } from "../../src/listen/recording.ts";
import { type Replayed, replay } from "../../src/listen/replay.ts";

const SECRET = `whsec_${"A".repeat(44)}`;
const BODY = Buffer.from(
  '{"event":"vc.test.ping","id":"evt_1","subscription_id":"wh_1","occurred_at":"2026-01-01T00:00:00Z","data":{"message":"\xff"}}',
  "latin1",
);
const HEADERS = ["X-VC-Signature", "sha256=old", "x-vc-timestamp", "1", "X-Custom", "é"];

async function aFile(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "partner-api-test-"));
  t.after(() => rm(folder, { recursive: true }));
  return join(folder, "deliveries.jsonl");
}

function anArrival(): Arrival {
  const sent = { method: "POST", path: "/hooks", rawHeaders: HEADERS, body: BODY };
  return { ...sent, at: new Date(0) } as Arrival;
}

test("a recording gives back bytes and headers, also of a second run, and only its owner can read it", async (t) => {
  const file = await aFile(t);
  for (let run = 0; run < 2; run++) {
    const recording = openRecording(file);
    assert.equal(recording.add(anArrival()), true);
    recording.close();
  }
  const one = { method: "POST", rawHeaders: HEADERS, body: BODY };
  assert.deepEqual(await readRecording(file), [one, one]);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
});

test("a recording ends at 64 MiB, and a longer one is refused", async (t) => {
  const file = await aFile(t);
  await writeFile(file, "");
  await truncate(file, 64 * 1024 * 1024 - 10);
  const recording = openRecording(file);
  assert.equal(recording.add(anArrival()), false);
  recording.close();
  assert.equal((await stat(file)).size, 64 * 1024 * 1024 - 10);
  await truncate(file, 64 * 1024 * 1024 + 1);
  await assert.rejects(readRecording(file), /more than 64 MiB/);
});

test("a line that is no delivery is named by its number", async (t) => {
  const file = await aFile(t);
  const recording = openRecording(file);
  recording.add(anArrival());
  recording.close();
  const good = await readFile(file, "utf8");
  for (const bad of ["{", "[]", "{}", '{"method":"POST","headers":[1],"body_base64":""}']) {
    await writeFile(file, `${good}${bad}\n`);
    await assert.rejects(readRecording(file), /line 2: not a recorded delivery/);
  }
});

async function replayOf(t: TestContext, secret: string | undefined, answers: (number | string)[]) {
  const file = await aFile(t);
  const recording = openRecording(file);
  answers.forEach(() => recording.add(anArrival()));
  recording.close();
  const [sent, told]: [Forwarded[], Replayed[]] = [[], []];
  const forward = (request: Forwarded) => {
    sent.push(request);
    return Promise.resolve(answers[sent.length - 1] ?? 0);
  };
  const options = { forward, secret, clock: () => new Date("2026-01-01T00:00:00Z") };
  const end = replay(file, options, (one) => told.push(one));
  return { sent, told, end };
}

test("a replay sends what was recorded, unchanged, and fails if anything is refused", async (t) => {
  const { sent, told, end } = await replayOf(t, undefined, [204, 500, "ECONNREFUSED"]);
  await assert.rejects(end, /2 of 3 deliveries were not accepted/);
  assert.deepEqual(sent[0], { method: "POST", rawHeaders: HEADERS, body: BODY });
  assert.deepEqual(
    told.map(({ eventType, eventId, answer }) => [eventType, eventId, answer]),
    [204, 500, "ECONNREFUSED"].map((answer) => ["vc.test.ping", "evt_1", answer]),
  );
});

test("with a secret a replay is signed anew, so that a receiver accepts it", async (t) => {
  const { sent, end } = await replayOf(t, SECRET, [204]);
  await end;
  const [{ rawHeaders, body } = assert.fail()] = sent;
  assert.equal(rawHeaders.filter((name) => /^x-vc-signature$/i.test(name)).length, 1);
  const pairs = rawHeaders.flatMap((name, i) =>
    i % 2 === 0 ? [[name.toLowerCase(), rawHeaders[i + 1] ?? ""]] : [],
  );
  const headers = Object.fromEntries(pairs) as Record<string, string>;
  const timestamp = String(Date.parse("2026-01-01T00:00:00Z"));
  const mac = createHmac("sha256", SECRET).update(`${timestamp}.`).update(body).digest("hex");
  assert.equal(headers["x-vc-timestamp"], timestamp);
  assert.equal(headers["x-vc-signature"], `sha256=${mac}`);
  assert.equal(headers["x-custom"], "é");
});
