import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "../../src/postgres/database.ts";
import { oneShardOnly } from "../support/placement.ts";
import { aGate } from "../support/database-gate.ts";
import { startProgram } from "../support/program.ts";
import { startReceiver } from "../support/receiver.ts";
import { aPartner, aRig } from "../support/rig.ts";

test(
  "an outage of the database causes 503 and two log lines, and everything continues afterwards",
  oneShardOnly("shards.test.ts has the outage of one shard"),
  async (t) => {
    const rig = await aRig(t);
    const gate = await aGate(t, connect(rig["DATABASE_URL"] ?? "", { max: 1, name: "test" }));
    const program = await startProgram(t, { ...rig, DATABASE_URL: gate.url });
    const receiver = await startReceiver(t, { address: "127.0.0.1", host: "localhost" });
    const partner = await aPartner(program, "acme");
    const subscription = await partner.subscribe(receiver.url("/hooks"));

    await gate.close();
    for (let i = 0; i < 10; i++) {
      const { status, headers } = await partner.ping(subscription);
      assert.equal(status, 503);
      assert.match(headers.get("retry-after") ?? "", /^[1-9][0-9]*$/);
    }

    await gate.open();
    let accepted = await partner.ping(subscription);
    for (; accepted.status === 503; accepted = await partner.ping(subscription)) await sleep(10);
    assert.equal(accepted.status, 200);
    const { body } = await receiver.next();
    const { id } = JSON.parse(body.toString()) as { id: string };
    assert.equal(id, accepted.body["event_id"]);

    const told = () => program.log.filter(({ msg }) => String(msg).includes("the database"));
    while (told().length < 2) await sleep(20);
    assert.deepEqual(
      told().map(({ level, msg }) => [level, msg]),
      [
        [50, "the database is unavailable: deliveries wait and requests are refused"],
        [30, "the database is available again"],
      ],
    );
  },
);
