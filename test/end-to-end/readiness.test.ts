import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "../../src/postgres/database.ts";
import { aGate } from "../support/database-gate.ts";
import { ADMIN_TOKEN, type Program, startProgram } from "../support/program.ts";
import { setStandby } from "../support/missing-standby.ts";
import { aSubscriber, aRig, call } from "../support/rig.ts";
import { aSecondServer } from "../support/second-server.ts";

/** The most refusals of a client that waits as long as each of them says. */
const REFUSALS_MAX = 2;

test("after another host has taken over from a frozen primary few requests are refused, and /readyz says which", async (t) => {
  const rig = await aRig(t);
  const db = connect(rig["DATABASE_URL"] ?? "", { max: 1, name: "test" });
  const [old, next] = [await aGate(t, db), await aGate(t, db)];
  next.demote();
  const { host } = new URL(next.url);
  const program = await startProgram(t, {
    ...rig,
    DATABASE_URL: old.url.replace(/@[^/]+/, `$&,${host}`),
  });
  const publisher = await aPublisher(t, program);
  assert.deepEqual(await bothStatuses(program, publisher), [200, 200]);

  old.freeze();
  const listing = call(`${program.operatorUrl}/api/v1/admin/organizations`, {
    token: ADMIN_TOKEN,
  });
  assert.deepEqual(await bothStatuses(program, publisher), [503, 503]);
  next.promote();
  for (let refusals = 0; ; refusals++) {
    assert.ok(refusals <= REFUSALS_MAX, "requests wait for the frozen primary");
    const { status: ready } = await fetch(`${program.partnerUrl}/readyz`);
    const { ping, subscription } = publisher;
    const { status, headers } = await ping(subscription);
    if (ready === 200) assert.equal(status, 200, "/readyz says what the next request meets");
    if (status === 200) break;
    await sleep(1000 * Number(headers.get("retry-after")));
  }
  await untilBoth(200, program, publisher);
  const { status, body } = await listing;
  assert.equal(status, 503);
  assert.doesNotMatch(String(body["detail"]), /takes too long/, "the database is given up first");
});

test("while commits hang, requests and /readyz return 503, and both recover by themselves", async (t) => {
  const { url, db: owner } = await aSecondServer(t);
  const program = await startProgram(t, {
    ...(await aRig(t)),
    DATABASE_URL: url,
    MIGRATION_DATABASE_URL: "",
  });
  const publisher = await aPublisher(t, program);
  assert.deepEqual(await bothStatuses(program, publisher), [200, 200]);

  await setStandby(owner, "missing");
  await untilBoth(503, program, publisher);
  assert.deepEqual(await bothStatuses(program, publisher), [503, 503]);
  await setStandby(owner, "");
  await untilBoth(200, program, publisher);
});

type Publisher = Awaited<ReturnType<typeof aPublisher>>;

async function aPublisher(t: TestContext, program: Program) {
  const { partner, subscription } = await aSubscriber(t, program);
  return { ping: partner.ping, subscription };
}

/** The status of a request that publishes an event, and then the status of `/readyz` on both listeners. */
async function bothStatuses(
  { partnerUrl, operatorUrl }: Program,
  { ping, subscription }: Publisher,
) {
  const { status } = await ping(subscription);
  const ready = await Promise.all(
    [partnerUrl, operatorUrl].map(async (url) => (await fetch(`${url}/readyz`)).status),
  );
  assert.equal(ready[0], ready[1]);
  return [status, ready[0]];
}

async function untilBoth(wanted: number, program: Program, publisher: Publisher): Promise<void> {
  for (;;) {
    const statuses = await bothStatuses(program, publisher);
    if (statuses.every((status) => status === wanted)) return;
    await sleep(50);
  }
}
