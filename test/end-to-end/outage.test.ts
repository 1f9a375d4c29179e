import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "../../src/postgres/database.ts";
import { columns } from "../support/columns.ts";
import { aGate } from "../support/database-gate.ts";
import { startService } from "../support/service.ts";
import { eventIdOf } from "../support/receiver.ts";
import { aRig, assertUnavailable, aSubscriber } from "../support/rig.ts";

test("an outage of the database causes 503 and two log lines, and everything continues afterwards", async (t) => {
  const rig = await aRig(t);
  const gate = await aGate(t, connect(rig["DATABASE_URL"] ?? "", { max: 1, name: "test" }));
  const program = await startService(t, { ...rig, DATABASE_URL: gate.url });
  const { receiver, partner, subscription } = await aSubscriber(t, program);

  await gate.close();
  for (let i = 0; i < 10; i++) assertUnavailable(await partner.ping(subscription));

  await gate.open();
  let accepted = await partner.ping(subscription);
  for (; accepted.status === 503; accepted = await partner.ping(subscription)) await sleep(10);
  assert.equal(accepted.status, 200);
  const id = eventIdOf(await receiver.next());
  assert.equal(id, accepted.body["event_id"]);

  const told = () => program.log.filter(({ msg }) => String(msg).includes("the database"));
  while (told().length < 2) await sleep(20);
  assert.deepEqual(columns(told(), "level", "msg"), [
    [50, "the database is unavailable: deliveries wait and requests are refused"],
    [30, "the database is available again"],
  ]);
});
