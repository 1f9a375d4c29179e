import assert from "node:assert/strict";
import { test } from "node:test";
import { openPool } from "../support/database.ts";
import { runProgram } from "../support/program.ts";
import { startService } from "../support/service.ts";
import { aPartner, aRig } from "../support/rig.ts";

test("the command that deletes a subscription ends after its whole queue is cancelled", async (t) => {
  const rig = await aRig(t);
  const program = await startService(t, { ...rig, ROLE: "api" });
  const partner = await aPartner(program, "acme");
  const subscription = await partner.subscribe("https://127.0.0.1/hooks");
  await partner.ping(subscription);
  await program.stop();

  const db = openPool(t, rig["DATABASE_URL"] ?? "");
  await db`
    insert into waiting_deliveries (id, event_id, subscription_id, organization_id, due_at)
    select gen_random_uuid(), event_id, subscription_id, organization_id, due_at
      from waiting_deliveries, generate_series(1, 11000)`;
  const { status } = await runProgram(["subscription", "delete", subscription.id], rig);
  assert.equal(status, 0);
  const [left] = await db`select count(*)::int as waiting from waiting_deliveries`;
  assert.deepEqual({ ...left }, { waiting: 0 });
});
