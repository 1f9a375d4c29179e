import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { ONLY_GUARDED, startGuardedReceiver } from "../support/canaries.ts";
import { HOSTILE_RECEIVERS } from "../support/hostile-receivers.ts";
import type { Receiver } from "../support/receiver.ts";
import { aPost, startSender } from "../support/sender.ts";

const DELIVERED = { kind: "acknowledged", httpStatus: 200 } as const;

/** An attempt's time where a receiver uses all of it; room for a slow machine where it must not. */
const SHORT_MS = 3_000;
const AMPLE_MS = 20_000;

/** What the system's own buffers take of a flood before we have said that we want no more of it. */
const BYTES_MAX = 16 * 1024 * 1024;

test("a hostile receiver affects only its own attempt", { concurrency: true }, async (t) => {
  const ample = await startSender(t, { egress: ONLY_GUARDED, timeoutMs: AMPLE_MS });
  const short = await startSender(t, { egress: ONLY_GUARDED, timeoutMs: SHORT_MS });
  const healthy = await startGuardedReceiver(t);
  const subtests: Promise<void>[] = [];

  for (const [what, hostile] of Object.entries(HOSTILE_RECEIVERS)) {
    const receiver = await startGuardedReceiver(t, hostile.receiver);
    if (hostile.script !== undefined) receiver.answer(hostile.script);
    const attempt = (hostile.lasts ? short : ample).send(aPost(receiver.url()));
    // Its time is short, so nothing else goes on until its answer is there.
    if (hostile.lasts && hostile.outcome.kind === "acknowledged") await attempt;

    const subtest = t.test(`a receiver that ${what}`, async () => {
      assert.deepEqual(await ample.send(aPost(healthy.url())), DELIVERED, "another receiver's");
      assert.deepEqual(await attempt, hostile.outcome);
      await gone(receiver);
      // Without a script it is its TLS that is hostile, and the request must never get there.
      if (hostile.script === undefined) assert.equal(receiver.requests.length, 0);
    });
    subtests.push(subtest);
  }
  await Promise.all(subtests);
});

/** Waits until the receiver has no connection any more. */
async function gone({ connections }: Receiver): Promise<void> {
  for (const socket of connections) {
    if (!socket.closed) await once(socket, "close");
    assert.ok(socket.bytesWritten < BYTES_MAX, `it was let send ${socket.bytesWritten} bytes`);
  }
}
