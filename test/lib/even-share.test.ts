import assert from "node:assert/strict";
import { test } from "node:test";
import { EvenShare } from "../../src/lib/even-share.ts";

function takeAll(share: EvenShare, holder: string): number {
  let taken = 0;
  while (share.take(holder)) taken++;
  return taken;
}

test("a single holder can have all places, and two can have half each", () => {
  const share = new EvenShare(12);
  assert.equal(takeAll(share, "acme"), 12);
  assert.equal(takeAll(share, "globex"), 6);
  for (let i = 0; i < 7; i++) share.give("acme");
  assert.equal(takeAll(share, "acme"), 1);
});

test("every holder gets a place, even if there are more holders than places", () => {
  const share = new EvenShare(2);
  for (let i = 0; i < 10; i++) assert.equal(share.take(`organization ${i}`), true);
  assert.equal(share.take("organization 0"), false);
});

test("a holder that has returned everything no longer counts", () => {
  const share = new EvenShare(4);
  assert.equal(takeAll(share, "acme"), 4);
  for (let i = 0; i < 4; i++) share.give("acme");
  assert.equal(takeAll(share, "globex"), 4);
});
