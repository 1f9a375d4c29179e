import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { watchLongTurns } from "../../src/egress/long-turns.ts";
import { standStill } from "../support/stand-still.ts";

test("a long turn of the event loop is noticed right after it", async () => {
  let looks = 0;
  const stop = watchLongTurns(() => looks++);
  standStill(250);
  await sleep(100);
  stop();
  assert.ok(looks >= 1);
});
