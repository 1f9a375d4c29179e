import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { mintSigningSecret, signatureHeaders } from "../../src/webhook/sign.ts";

const signingSecret = mintSigningSecret();
const eventId = "evt_01990000-0000-7000-8000-000000000000";
const BODY = Buffer.from('{"event":"vc.test.ping"}');

const sign = (timestampMs: number, body = BODY) =>
  signatureHeaders({ signingSecret, eventId, timestampMs, body });

test("a new signing secret has the form that partners and Standard Webhooks libraries expect", () => {
  const secrets = Array.from({ length: 100 }, mintSigningSecret);
  for (const secret of secrets) {
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{44}$/);
    assert.equal(Buffer.from(secret.slice(6), "base64").length, 33);
  }
  assert.equal(new Set(secrets).size, 100);
});

test("X-VC-Signature is the HMAC-SHA256 of time, dot and body with the whole secret as the key", () => {
  const headers = sign(1_767_225_600_123);
  const expected = createHmac("sha256", signingSecret)
    .update('1767225600123.{"event":"vc.test.ping"}')
    .digest("hex");
  assert.equal(headers["X-VC-Signature"], `sha256=${expected}`);
  assert.equal(headers["X-VC-Timestamp"], "1767225600123");
});

test("a delivery has exactly these five headers", () => {
  const headers = sign(1_767_225_600_999);
  assert.deepEqual(Object.keys(headers), [
    "X-VC-Signature",
    "X-VC-Timestamp",
    "webhook-id",
    "webhook-timestamp",
    "webhook-signature",
  ]);
  assert.equal(headers["webhook-id"], eventId);
  assert.equal(headers["webhook-timestamp"], "1767225600", "seconds, rounded down");
});

test("a Standard Webhooks library accepts our signatures and rejects others", () => {
  const library = new Webhook(signingSecret);
  const texts = fc.string({ unit: "grapheme" }).map((message) => JSON.stringify({ message }));
  fc.assert(
    fc.property(texts, (text) => {
      const headers = sign(Date.now(), Buffer.from(text));
      assert.deepEqual(library.verify(text, headers), JSON.parse(text));
      assert.throws(() => library.verify(`${text} `, headers), /No matching signature/);
      assert.throws(() => new Webhook(mintSigningSecret()).verify(text, headers));
      assert.throws(() => library.verify(text, { ...headers, "webhook-id": "evt_other" }));
    }),
    { numRuns: 50 },
  );
});

test("a Standard Webhooks library accepts our timestamp and rejects yesterday's", () => {
  const library = new Webhook(signingSecret);
  const headers = sign(Date.now() - 24 * 3_600_000);
  assert.throws(() => library.verify(BODY, headers), /too old/);
});

test("each attempt has the same bytes, signed with its own timestamp", () => {
  const [first, second] = [sign(1_767_225_600_000), sign(1_767_225_660_000)];
  assert.notEqual(first["X-VC-Signature"], second["X-VC-Signature"]);
  assert.notEqual(first["webhook-signature"], second["webhook-signature"]);
  assert.equal(first["webhook-id"], second["webhook-id"]);
});
