import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { type KeyRing, seal } from "../../../src/subjects/secrets/rules.ts";
import type { SealedSubscription } from "../../../src/subjects/subscriptions/sql.ts";
import { requireSecret } from "../../../src/subjects/subscriptions/work.ts";
import { mintSigningSecret } from "../../../src/webhook/sign.ts";
import { comparesOf } from "../../support/compares.ts";

test("a presented signing secret is compared in constant time", (t) => {
  const ring: KeyRing = [{ id: "2026", key: randomBytes(32) }];
  const id = "01990000-0000-7000-8000-000000000001";
  const secret = mintSigningSecret();
  const row = { id, sealedSecret: seal(ring, id, secret) } as SealedSubscription;
  const compared = comparesOf(t);

  requireSecret({ ring }, row, secret);
  const mismatch = { code: "secret_mismatch" };
  assert.throws(() => {
    requireSecret({ ring }, row, mintSigningSecret());
  }, mismatch);
  const length = secret.length;
  assert.deepEqual(compared, [
    [length, length],
    [length, length],
  ]);
  for (const other of ["", "whsec_", `${secret}A`]) {
    assert.throws(() => {
      requireSecret({ ring }, row, other);
    }, mismatch);
  }
});
