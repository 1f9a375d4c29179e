import assert from "node:assert/strict";
import { test } from "node:test";
import { painter } from "../../src/commands/output.ts";
import type { Arrival } from "../../src/listen/arrival.ts";
import { arrivalJson, arrivalText, jsonReporter } from "../../src/listen/reporters.ts";

function anArrival(changes: Partial<Arrival> = {}): Arrival {
  return {
    method: "POST",
    path: "/hooks",
    headers: { "x-vc-timestamp": "1795222800123" },
    rawHeaders: ["X-VC-Timestamp", "1795222800123"],
    body: Buffer.from('{"event":"vc.test.ping","data":{"message":"integration test"}}'),
    at: new Date("2026-01-01T00:00:00Z"),
    verdict: "valid",
    eventType: "vc.test.ping",
    eventId: "evt_1",
    attempt: 2,
    dataFaults: null,
    forwardedTo: null,
    forwardError: null,
    reply: { status: 500, delayMs: 12_000 },
    ...changes,
  };
}

const plain = painter({ isTerminal: false });

test("a delivery shows verdict, attempt, reply, headers as sent and the indented body", () => {
  assert.equal(
    arrivalText(anArrival(), plain).replace(/─+/g, "─"),
    `
─ 00:00:00.000Z ─
   ✔ valid  vc.test.ping  attempt 2  → 500 after 12s

   POST /hooks
   X-VC-Timestamp: 1795222800123

   {
     "event": "vc.test.ping",
     "data": {
       "message": "integration test"
     }
   }
`,
  );
});

test("control characters of a delivery do not reach the terminal", () => {
  const evil = "\u001b[2J\u009b31m\u0007";
  for (const body of [evil, JSON.stringify({ evil })].map((text) => Buffer.from(text))) {
    const sent = { path: evil, rawHeaders: ["X", evil], eventType: evil, body };
    const text = arrivalText(anArrival(sent), plain);
    assert.doesNotMatch(text.replaceAll("\n", ""), /\p{Cc}/u);
  }
});

test("control characters of a delivery do not reach the terminal as JSON", () => {
  let line = "";
  const path = "\u009b31m\u202e";
  jsonReporter((text) => (line += text)).arrived(anArrival({ path }));
  assert.doesNotMatch(line.trimEnd(), /[\p{Cc}\p{Cf}]/u);
  assert.equal((JSON.parse(line) as { path: string }).path, path);
});

test("a forwarded delivery shows the program's status, or why there is none", () => {
  const forwardedTo = "http://localhost:3000/hooks";
  const reply = { status: 201, delayMs: 0 };
  const text = (changes: Partial<Arrival>) =>
    arrivalText(anArrival({ forwardedTo, ...changes }), plain);
  assert.match(text({ reply }), /→ 201 from http:\/\/localhost:3000\/hooks$/m);
  const failed = text({ reply: { status: 502, delayMs: 0 }, forwardError: "ECONNREFUSED" });
  assert.match(failed, /→ 502, because http:.*\/hooks did not answer: ECONNREFUSED$/m);
});

test("a body is indented without a change of its numbers and members", () => {
  const body = Buffer.from('{"n":[123456789012345.123456,1e-400,{}],"n": "a\\"{",\n"o":{"b":[]}}');
  const lines = arrivalText(anArrival({ body }), plain).split("\n").slice(-12);
  assert.deepEqual(
    lines.map((line) => line.slice(3)),
    [
      ...["{", '  "n": [', "    123456789012345.123456,", "    1e-400,", "    {}", "  ],"],
      ...['  "n": "a\\"{",', '  "o": {', '    "b": []', "  }", "}", ""],
    ],
  );
});

test("an empty body and one that is not JSON are shown unchanged", () => {
  assert.match(arrivalText(anArrival({ body: Buffer.from("") }), plain), /1795222800123\n\n\n$/);
  assert.match(arrivalText(anArrival({ body: Buffer.from("a=b") }), plain), /\n {3}a=b\n$/);
});

test("colours are used only on a terminal", () => {
  const green = "\u001b[32m✔ valid\u001b[39m";
  assert.ok(!arrivalText(anArrival(), plain).includes("\u001b"));
  assert.ok(arrivalText(anArrival(), painter({ isTerminal: true })).includes(green));
});

test("JSON output has a body that is not UTF-8 as base64", () => {
  const body = Buffer.from([0xff, 0xfe]);
  assert.deepEqual(arrivalJson(anArrival({ body })), {
    type: "delivery",
    received_at: "2026-01-01T00:00:00.000Z",
    method: "POST",
    path: "/hooks",
    verdict: "valid",
    event_type: "vc.test.ping",
    event_id: "evt_1",
    attempt: 2,
    headers: { "x-vc-timestamp": "1795222800123" },
    body_base64: "//4=",
    answer: { status: 500, delay_ms: 12_000 },
  });
});
