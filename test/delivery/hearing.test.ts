import assert from "node:assert/strict";
import { test } from "node:test";
import { Hearing } from "../../src/delivery/hearing.ts";
import { encodeNotice, NOTICE_MAX } from "../../src/domain/due-notice.ts";
import { randomId } from "../../src/domain/ids.ts";
import { aDispatcher } from "../support/dispatcher.ts";

/** A notice about subscriptions that do not exist. */
const aFalseNotice = () =>
  encodeNotice(
    Array.from({ length: NOTICE_MAX }, () => ({
      subscription_id: randomId(),
      organization_id: randomId(),
    })),
  );

test("a flood of false notices leaves room for this process's own events", (t) => {
  const { dispatcher } = aDispatcher(t, {}); // The dispatcher does not run, so it forgets nothing.
  const time = { ms: 0 };
  const hearing = new Hearing(dispatcher, () => time.ms++);
  for (let sent = 0; sent < 100; sent++) hearing.hear(aFalseNotice());
  assert.equal(dispatcher.isHearing, false);
  assert.ok(dispatcher.dueCount < 1_000, `${dispatcher.dueCount} subscriptions are remembered`);
});

test("only a bounded number of simultaneous notices is read", () => {
  const time = { ms: 0 };
  let read = 0;
  const nudge = () => {
    read++;
  };
  const hearing = new Hearing({ isHearing: true, nudge }, () => time.ms);
  const notice = aFalseNotice();
  for (let sent = 0; sent < 1_000; sent++) hearing.hear(notice);
  assert.equal(read, 20);
  time.ms += 20;
  hearing.hear(notice);
  assert.equal(read, 21);
});
