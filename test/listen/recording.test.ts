import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { chmod, chown, link, readFile, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { Arrival } from "../../src/listen/arrival.ts";
import {
  type Forwarded,
  FULL,
  openRecording,
  readRecording,
  replay,
  type Replayed,
} from "../../src/listen/replay.ts";
import { columns } from "../support/columns.ts";
import { skipOrFail } from "../support/required.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const SECRET = `whsec_${"A".repeat(44)}`;
const BODY = Buffer.from(
  '{"event":"vc.test.ping","id":"evt_1","subscription_id":"wh_1","occurred_at":"2026-01-01T00:00:00Z","data":{"message":"\xff"}}',
  "latin1",
);
const HEADERS = ["X-VC-Signature", "sha256=old", "x-vc-timestamp", "1", "X-Custom", "é"];

async function aFile(t: TestContext): Promise<string> {
  const folder = await aTemporaryFolder(t);
  return join(folder, "deliveries.jsonl");
}

function anArrival(): Arrival {
  const sent = { method: "POST", path: "/hooks", rawHeaders: HEADERS, body: BODY };
  return { ...sent, at: new Date(0) } as Arrival;
}

test("a recording returns bytes and headers, also of a second run, and only its owner can read it", async (t) => {
  const file = await aFile(t);
  for (let run = 0; run < 2; run++) {
    const recording = openRecording(file);
    assert.equal(recording.add(anArrival()), null);
    recording.close();
  }
  const one = { method: "POST", rawHeaders: HEADERS, body: BODY };
  assert.deepEqual(await readRecording(file), { deliveries: [one, one], brokenLines: [] });
  assert.equal((await stat(file)).mode & 0o777, 0o600);
});

test("a recording ends at 64 MiB, and a longer one is refused", async (t) => {
  const file = await aFile(t);
  await writeFile(file, "");
  await truncate(file, 64 * 1024 * 1024 - 10);
  const recording = openRecording(file);
  assert.deepEqual([recording.add(anArrival()), recording.add(anArrival())], [FULL, null]);
  recording.close();
  assert.equal((await stat(file)).size, 64 * 1024 * 1024 - 10);
  await truncate(file, 64 * 1024 * 1024 + 1);
  await assert.rejects(readRecording(file), /more than 64 MiB/);
});

test("a line that is not a delivery is skipped and reported by its number", async (t) => {
  const file = await aFile(t);
  const recording = openRecording(file);
  recording.add(anArrival());
  recording.close();
  const good = await readFile(file, "utf8");
  for (const bad of ["{", "[]", "{}", '{"method":"POST","headers":[1],"body_base64":""}']) {
    await writeFile(file, `${good}${bad}\n`);
    const { deliveries, brokenLines } = await readRecording(file);
    assert.deepEqual([deliveries.length, brokenLines], [1, [2]]);
    await writeFile(file, `${bad}\n`);
    await assert.rejects(readRecording(file), /line 1: not a recorded delivery/);
  }
});

test("a recording that everybody could read becomes private, and a partial line costs no delivery after it", async (t) => {
  const file = await aFile(t);
  await writeFile(file, '{"method":');
  await chmod(file, 0o644);
  const recording = openRecording(file);
  recording.add(anArrival());
  recording.add(anArrival());
  recording.close();
  const { deliveries, brokenLines } = await readRecording(file);
  assert.deepEqual([deliveries.length, brokenLines], [2, [1]]);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
});

/** Puts something that is not our file under the name of a recording. `target` is a file that must stay as it is. */
const TRAPS = {
  "a link": [symlink, /ELOOP/],
  "another name of a file": [link, /must be a regular file with one name/],
  "a pipe": [
    (_: string, file: string) => execFileSync("mkfifo", [file]),
    /must be a regular file with one name/,
  ],
} as const;

for (const [what, [lay, refusal]] of Object.entries(TRAPS)) {
  test(`a recording is not written to ${what}, and what it leads to keeps its mode`, async (t) => {
    const file = await aFile(t);
    const target = `${file}.target`;
    await writeFile(target, "");
    await chmod(target, 0o644);
    await lay(target, file);
    assert.throws(() => openRecording(file), refusal);
    const { mode, size } = await stat(target);
    assert.deepEqual([mode & 0o777, size], [0o644, 0]);
    if (process.geteuid?.() === 0) await assert.rejects(readRecording(file), refusal);
  });
}

test("root neither writes nor reads a recording of another user, and does not change its mode", async (t) => {
  if (process.geteuid?.() !== 0) {
    skipOrFail(t, "only root may open the files of others");
    return;
  }
  const file = await aFile(t);
  await writeFile(file, "");
  await chmod(file, 0o666);
  await chown(file, 65_534, 65_534);
  assert.throws(() => openRecording(file), /belongs to another user/);
  await assert.rejects(readRecording(file), /belongs to another user/);
  assert.equal((await stat(file)).mode & 0o777, 0o666);
});

test("a disk error ends the recording and is reported once", async (t) => {
  const recording = openRecording(await aFile(t));
  recording.close();
  assert.deepEqual([recording.add(anArrival()), recording.add(anArrival())], ["EBADF", null]);
});

async function replayOf(
  t: TestContext,
  secret: string | undefined,
  answers: (number | string)[],
  stop = new AbortController(),
) {
  const file = await aFile(t);
  const recording = openRecording(file);
  answers.forEach(() => recording.add(anArrival()));
  recording.close();
  const [sent, told]: [Forwarded[], Replayed[]] = [[], []];
  const forward = (request: Forwarded) => {
    sent.push(request);
    if (answers[sent.length - 1] === "ABORT_ERR") stop.abort();
    return Promise.resolve(answers[sent.length - 1] ?? 0);
  };
  const clock = () => new Date("2026-01-01T00:00:00Z");
  const options = { forward, secret, clock, stop: stop.signal };
  const end = replay(file, options, {
    replayed: (one) => told.push(one),
    brokenLine: (line) => assert.fail(`line ${line}`),
  });
  return { sent, told, end };
}

test("a replay sends the recorded deliveries unchanged, and fails if any is refused", async (t) => {
  const { sent, told, end } = await replayOf(t, undefined, [204, 500, "ECONNREFUSED"]);
  await assert.rejects(end, /2 of 3 deliveries were not accepted/);
  assert.deepEqual(sent[0], { method: "POST", rawHeaders: HEADERS, body: BODY });
  assert.deepEqual(
    columns(told, "eventType", "eventId", "answer"),
    [204, 500, "ECONNREFUSED"].map((answer) => ["vc.test.ping", "evt_1", answer]),
  );
});

test("a stopped replay sends nothing more, and reports its progress", async (t) => {
  const { sent, told, end } = await replayOf(t, undefined, [204, "ABORT_ERR", 204]);
  await assert.rejects(end, /stopped: 1 of 3 deliveries were answered/);
  assert.deepEqual([sent.length, told.length], [2, 1]);
});

test("with a secret a replay signs anew, so that a receiver accepts it", async (t) => {
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
