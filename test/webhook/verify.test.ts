import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { test } from "node:test";
import fc from "fast-check";
import { mintSigningSecret, signatureHeaders } from "../../src/webhook/sign.ts";
import { type Delivery, REPLAY_WINDOW_MS, verify } from "../../src/webhook/verify.ts";

const secret = mintSigningSecret();
const now = 1_767_225_600_000;
const event = {
  event: "vc.test.ping",
  id: "evt_01990000-0000-7000-8000-000000000000",
  subscription_id: "wh_01990000-0000-7000-8000-000000000001",
  occurred_at: "2026-01-01T00:00:00.000Z",
  data: { message: "integration test" },
};
const body = Buffer.from(JSON.stringify(event));
const genuine = { secret, headers: signed(body), body, now };

function signed(bytes: Uint8Array, timestampMs = now): Record<string, string> {
  return signatureHeaders({ signingSecret: secret, eventId: event.id, timestampMs, body: bytes });
}

async function verdictOf(change: Partial<Delivery>): Promise<string> {
  return (await verify({ ...genuine, ...change })).verdict;
}

test("accepts a genuine delivery and returns its event", async () => {
  assert.deepEqual(await verify(genuine), { verdict: "valid", event });
});

test("accepts a delivery that was signed by another implementation", async () => {
  // printf '1767225600000.<body>' | openssl dgst -sha256 -hmac whsec_c2VjcmV0
  const headers = {
    "X-VC-Signature": "sha256=c09c7b242429f816772948629bb2fe6f85110221b5edf1ea01d9d8917754f348",
    "X-VC-Timestamp": "1767225600000",
  };
  assert.equal(await verdictOf({ secret: "whsec_c2VjcmV0", headers }), "valid");
});

const signature = genuine.headers["X-VC-Signature"] ?? "";
const mac = signature.slice("sha256=".length);

const badSignatures = [
  ["no signature", undefined, "malformed"],
  ["an empty signature", "", "malformed"],
  ["no prefix", mac, "malformed"],
  ["another prefix", `sha512=${mac}`, "malformed"],
  ["the prefix in upper case", `SHA256=${mac}`, "malformed"],
  ["two signatures in one header", `${signature}, ${signature}`, "malformed"],
  ["only the prefix", "sha256=", "forged"],
  ["a signature cut short", signature.slice(0, -1), "forged"],
  ["a signature made longer", `${signature}0`, "forged"],
  ["a signature in upper case", `sha256=${mac.toUpperCase()}`, "forged"],
  ["a signature that is not hexadecimal", `sha256=${"g".repeat(64)}`, "forged"],
  ["a signature of zeros", `sha256=${"0".repeat(64)}`, "forged"],
  [
    "one digit changed",
    `${signature.slice(0, -1)}${signature.endsWith("0") ? "1" : "0"}`,
    "forged",
  ],
] as const;

for (const [what, value, verdict] of badSignatures) {
  test(`rejects ${what}`, async () => {
    const headers = { ...genuine.headers, "X-VC-Signature": value };
    assert.equal(await verdictOf({ headers }), verdict);
  });
}

const badTimestamps = [
  ["no timestamp", undefined, "malformed"],
  ["an empty timestamp", "", "malformed"],
  ["a timestamp that is not an integer", `${now}.5`, "malformed"],
  ["a timestamp with an exponent", "1767225600e3", "malformed"],
  ["a timestamp in hexadecimal", `0x${now.toString(16)}`, "malformed"],
  ["a negative timestamp", `-${now}`, "malformed"],
  ["a timestamp with a space", ` ${now}`, "malformed"],
  ["a timestamp in words", "now", "malformed"],
  ["a timestamp of a thousand digits", "1".repeat(1_000), "malformed"],
  ["two timestamps in one header", `${now}, ${now}`, "malformed"],
  ["a timestamp in seconds", String(now / 1_000), "stale"],
  ["another fresh timestamp", String(now + 1), "forged"],
  ["the timestamp with a leading zero", `0${now}`, "forged"],
] as const;

for (const [what, value, verdict] of badTimestamps) {
  test(`rejects ${what}`, async () => {
    const headers = { ...genuine.headers, "X-VC-Timestamp": value };
    assert.equal(await verdictOf({ headers }), verdict);
  });
}

test("rejects another secret and a body with one byte changed", async () => {
  assert.equal(await verdictOf({ secret: mintSigningSecret() }), "forged");
  assert.equal(await verdictOf({ body: Buffer.from(body).fill("!", 5, 6) }), "forged");
  assert.equal(await verdictOf({ body: new Uint8Array() }), "forged");
});

test("rejects a delivery with timestamp and signature swapped", async () => {
  const { "X-VC-Timestamp": timestamp } = genuine.headers;
  const headers = { "X-VC-Signature": timestamp, "X-VC-Timestamp": signature };
  assert.equal(await verdictOf({ headers }), "malformed");
});

const clocks = [
  ["five minutes behind", now - 300_000, "valid"],
  ["five minutes ahead", now + 300_000, "valid"],
  ["one millisecond more than five minutes behind", now - 300_001, "stale"],
  ["one millisecond more than five minutes ahead", now + 300_001, "stale"],
] as const;

for (const [what, clock, verdict] of clocks) {
  test(`with a clock that is ${what} a delivery is ${verdict}`, async () => {
    assert.equal(REPLAY_WINDOW_MS, 300_000);
    assert.equal(await verdictOf({ now: clock }), verdict);
  });
}

test("uses the real clock by default", async () => {
  assert.equal(await verdictOf({ now: undefined }), "stale");
  assert.equal(await verdictOf({ now: undefined, headers: signed(body, Date.now()) }), "valid");
});

test("during a rotation, either secret may have signed", async () => {
  assert.equal(await verdictOf({ secret: [mintSigningSecret(), secret] }), "valid");
  assert.equal(await verdictOf({ secret: [secret, mintSigningSecret()] }), "valid");
  assert.equal(await verdictOf({ secret: [mintSigningSecret(), mintSigningSecret()] }), "forged");
});

test("accepts headers in any letter case and in the form of any framework", async () => {
  const lower = Object.fromEntries(
    Object.entries(genuine.headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const lists = Object.fromEntries(Object.entries(lower).map(([name, value]) => [name, [value]]));
  const ofNode: IncomingHttpHeaders = lower;
  for (const headers of [genuine.headers, ofNode, lists, new Headers(genuine.headers)]) {
    assert.equal(await verdictOf({ headers }), "valid");
  }
});

test("a repeated header is malformed in the form of any framework", async () => {
  for (const name of ["X-VC-Signature", "X-VC-Timestamp"] as const) {
    const value = genuine.headers[name] ?? "";
    const appended = new Headers(genuine.headers);
    appended.append(name, value);
    const doubled = [
      appended,
      { ...genuine.headers, [name]: [value, value] },
      { ...genuine.headers, [name.toLowerCase()]: value },
      { ...genuine.headers, [name]: `${value}, ${value}` },
      { ...genuine.headers, [name]: [] },
    ];
    for (const headers of doubled) assert.equal(await verdictOf({ headers }), "malformed");
  }
});

test("a request without headers is malformed", async () => {
  assert.equal(await verdictOf({ headers: {} }), "malformed");
  assert.equal(await verdictOf({ headers: new Headers() }), "malformed");
});

test("the body can be a string or any view of its bytes", async () => {
  const padded = new Uint8Array(body.length + 16);
  padded.set(body, 8);
  const forms = [
    body.toString(),
    new Uint8Array(body),
    padded.subarray(8, 8 + body.length),
    new Uint8Array(body).buffer,
  ];
  for (const form of forms) assert.equal(await verdictOf({ body: form }), "valid");
});

test("a parsed body is a mistake of the receiver and is explained", async () => {
  for (const parsed of [event, null, undefined, 1, [event], body.toJSON()]) {
    const delivery = { ...genuine, body: parsed as unknown as Uint8Array };
    await assert.rejects(verify(delivery), { name: "TypeError", message: /raw bytes/ });
  }
});

test("a missing secret is a mistake of the receiver and throws", async () => {
  for (const missing of ["", [], [""], [secret, ""], undefined, null]) {
    const delivery = { ...genuine, secret: missing as unknown as string };
    await assert.rejects(verify(delivery), { name: "TypeError", message: /signing secret/ });
  }
});

const notEvents = [
  "",
  "not JSON",
  "null",
  "[]",
  '"text"',
  "{}",
  JSON.stringify({ ...event, event: undefined }),
  JSON.stringify({ ...event, id: 7 }),
  JSON.stringify({ ...event, subscription_id: "" }),
  JSON.stringify({ ...event, occurred_at: null }),
  JSON.stringify({ ...event, data: "text" }),
  JSON.stringify({ ...event, data: [] }),
  JSON.stringify({ ...event, data: null }),
];

for (const text of notEvents) {
  test(`a signed body that is not an event is malformed: ${text.slice(0, 60)}`, async () => {
    const bytes = Buffer.from(text);
    assert.equal(await verdictOf({ body: bytes, headers: signed(bytes) }), "malformed");
  });
}

test("a signed body that is not UTF-8 is malformed", async () => {
  const bytes = Buffer.from(body);
  bytes[bytes.indexOf("integration")] = 0xff;
  assert.equal(await verdictOf({ body: bytes, headers: signed(bytes) }), "malformed");
});

test("unknown members of an event are returned", async () => {
  const later = { ...event, api_version: "2", data: { nested: { list: [1, null] } } };
  const bytes = Buffer.from(JSON.stringify(later));
  const verification = await verify({ ...genuine, body: bytes, headers: signed(bytes) });
  assert.deepEqual(verification, { verdict: "valid", event: later });
});

test("everything we sign verifies, and nothing with a bit changed does", async () => {
  const values = fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue());
  await fc.assert(
    fc.asyncProperty(values, fc.nat(), fc.nat(), async (data, time, place) => {
      const bytes = Buffer.from(JSON.stringify({ ...event, data }));
      const headers = signed(bytes, time);
      const delivery = { secret, headers, body: bytes, now: time };
      assert.equal((await verify(delivery)).verdict, "valid");

      const bit = place % (bytes.length * 8);
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assert.equal((await verify(delivery)).verdict, "forged");
    }),
    { numRuns: 200 },
  );
});

test("the library needs neither Node.js nor any package", () => {
  const foreign =
    /^import .* from "(?!\.\/)|^export .* from "(?!\.\/)|\bimport\(|\brequire\(|\bBuffer\b|\bprocess\./m;
  const library = ["index", "verify", "handle-once", "memory-store"];
  for (const name of library) {
    const compiled = new URL(`../../src/webhook/${name}.js`, import.meta.url);
    const text = readFileSync(compiled, "utf8");
    assert.doesNotMatch(text, foreign, name);
    const own = text.matchAll(/ from "\.\/(.*)\.js"/g);
    for (const [, imported = ""] of own) assert.ok(library.includes(imported), imported);
  }
});

test("verify is a single file without imports", () => {
  const compiled = new URL("../../src/webhook/verify.js", import.meta.url);
  assert.doesNotMatch(readFileSync(compiled, "utf8"), /^import\b|^export .* from\b/m);
});
