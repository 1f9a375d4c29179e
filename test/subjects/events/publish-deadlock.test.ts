import assert from "node:assert/strict";
import { test } from "node:test";
import { createDatabase } from "../../support/database.ts";
import { anOrganization, aSubscription, createEngine } from "../../support/engine.ts";

const db = await createDatabase();
const IN_USE = "55P03";
const DEADLOCK = "40P01";

/** Publishes an event with a key. Its statements fail with these codes in turn, after they have written. */
async function publishFailing(codes: string[]) {
  let statements = 0;
  const { deps } = await createEngine(db, {
    noteWrite: async (write) => {
      const result = await write;
      const code = codes[statements++];
      if (code !== undefined) throw Object.assign(new Error(`failed with ${code}`), { code });
      return result;
    },
  });
  const organizationId = await anOrganization(deps);
  await aSubscription(deps, organizationId);
  const event = { organizationId, type: "vc.test.ping", data: "{}", dedupeKey: "order-1" };
  const published = await deps.batched
    .publishAll([event])
    .catch((error: unknown) => (error as { code?: string }).code);
  return { published, statements };
}

test("a batch that ends in a deadlock while it waits for a key is published again", async () => {
  const { published, statements } = await publishFailing([IN_USE, IN_USE, DEADLOCK, DEADLOCK]);
  assert.ok(Array.isArray(published));
  assert.equal(published.length, 1);
  assert.equal(statements, 5);
});

test("a batch that ends in deadlocks three times fails", async () => {
  const { published, statements } = await publishFailing([
    IN_USE,
    IN_USE,
    DEADLOCK,
    DEADLOCK,
    DEADLOCK,
  ]);
  assert.equal(published, DEADLOCK);
  assert.equal(statements, 5);
});
