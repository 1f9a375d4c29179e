import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { signatureHeaders } from "../../src/webhook/sign.ts";
import { verify, verifySignature } from "../../src/webhook/verify.ts";
import { ROOT } from "../support/root.ts";
import { encodeVectors, VECTORS } from "./vectors/document.ts";
import { readVectors } from "./vectors/read.ts";

const vectors = readVectors();

test("the published vectors are up to date (otherwise run scripts/vectors.js)", () => {
  const published = readFileSync(join(ROOT, "vectors/signature.json"), "utf8");
  assert.equal(published, encodeVectors(VECTORS));
});

test("there are at least 60 vectors with distinct names", () => {
  assert.ok(vectors.length >= 60);
  assert.equal(new Set(vectors.map(({ name }) => name)).size, vectors.length);
});

for (const { name, secrets, headers, body, now, verdict, event } of vectors) {
  const delivery = { secret: secrets, headers: asObject(headers), body, now };

  test(`vector: ${name} is ${verdict}`, async () => {
    assert.equal(await verifySignature(delivery), verdict);
  });

  test(`vector, read as an event: ${name}`, async () => {
    const isNoEvent = verdict === "valid" && !event;
    assert.equal((await verify(delivery)).verdict, isNoEvent ? "malformed" : verdict);
  });
}

test("the service produces the signatures of the valid vectors", () => {
  for (const { name, secrets, headers, body, verdict } of vectors) {
    if (verdict !== "valid") continue;
    const lower = Object.fromEntries(headers.map(([key, value]) => [key.toLowerCase(), value]));
    const timestampMs = Number(lower["x-vc-timestamp"]);
    const signatures = secrets.map((signingSecret) => {
      return signatureHeaders({ signingSecret, eventId: "evt_x", timestampMs, body })[
        "X-VC-Signature"
      ];
    });
    assert.ok(signatures.includes(lower["x-vc-signature"] ?? ""), name);
  }
});

/** In the form of Node.js's `headersDistinct`, but with the names as sent. */
function asObject(headers: readonly (readonly [string, string])[]): Record<string, string[]> {
  const object: Record<string, string[]> = {};
  for (const [name, value] of headers) (object[name] ??= []).push(value);
  return object;
}
