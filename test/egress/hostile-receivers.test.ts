import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import type { Outcome } from "../../src/subjects/deliveries/rules.ts";
import { ONLY_GUARDED, startGuardedReceiver } from "../support/canaries.ts";
import { HOSTILE_RECEIVERS } from "../support/hostile-receivers.ts";
import type { Receiver } from "../support/receiver.ts";
import { aPost, DELIVERED, startSender } from "../support/sender.ts";

/**
 * The attempt timeout. It is short for receivers that use all of it, and long for the others, because the
 * machine may be slow.
 */
const SHORT_MS = 3_000;
const AMPLE_MS = 20_000;

/** The bytes of a flood that the system's buffers take before reading is paused. */
const BYTES_MAX = 16 * 1024 * 1024;

test("a hostile receiver affects only its own attempt", { concurrency: true }, async (t) => {
  const ample = await startSender(t, { policy: ONLY_GUARDED, timeoutMs: AMPLE_MS });
  const short = await startSender(t, { policy: ONLY_GUARDED, timeoutMs: SHORT_MS });
  const healthy = await startGuardedReceiver(t);
  const subtests: Promise<void>[] = [];

  for (const [what, hostile] of Object.entries(HOSTILE_RECEIVERS)) {
    const receiver = await startGuardedReceiver(t, hostile.receiver);
    if (hostile.script !== undefined) receiver.answer(hostile.script);
    const attempt = (hostile.lasts ? short : ample).send(aPost(receiver.url()));
    // The timeout is short, so nothing else runs until the answer has arrived.
    if (hostile.lasts && hostile.outcome.kind === "acknowledged") await attempt;

    const subtest = t.test(`a receiver that ${what}`, async () => {
      assert.deepEqual(await ample.send(aPost(healthy.url())), DELIVERED, "another receiver's");
      assert.deepEqual(withoutDetail(await attempt), hostile.outcome);
      await gone(receiver);
      // A receiver without a script is hostile in TLS and must never get the request.
      if (hostile.script === undefined) assert.equal(receiver.requests.length, 0);
    });
    subtests.push(subtest);
  }
  await Promise.all(subtests);
});

/** The details are the subject of causes.test.ts. */
function withoutDetail(outcome: Outcome): Outcome {
  if (outcome.kind !== "unreachable") return outcome;
  return { kind: outcome.kind, reason: outcome.reason };
}

/** Waits until the receiver has no connections. */
async function gone({ connections }: Receiver): Promise<void> {
  for (const socket of connections) {
    if (!socket.closed) await once(socket, "close");
    assert.ok(socket.bytesWritten < BYTES_MAX, `the receiver sent ${socket.bytesWritten} bytes`);
  }
}
