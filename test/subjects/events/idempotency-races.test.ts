import assert from "node:assert/strict";
import { test } from "node:test";
import { createDatabase } from "../../support/database.ts";
import {
  aCaller,
  type Answer,
  codeOf,
  post,
  replayed,
  subscribe,
} from "../../support/keyed-requests.ts";
import { untilBlocked } from "../../support/until-blocked.ts";

const db = await createDatabase();

test("one of several simultaneous requests with one key on two nodes is executed, and all get its response", async (t) => {
  const { api, caller } = await aCaller(t, db);
  const { api: other } = await aCaller(t, db);
  const { id, secret } = await api.aSubscriptionOf(caller);
  const calls = [
    (node: typeof api) => subscribe(node, caller, "race"),
    (node: typeof api) => post(node, caller, `/${id}/test`, { secret }, "race"),
  ];
  for (const call of calls) {
    const both = Array.from({ length: 6 }, () => [call(api), call(other)]);
    const answers = await Promise.all(both.flat());
    assert.equal(new Set(answers.map((answer) => answer.body)).size, 1);
    assert.equal(answers.filter((answer) => replayed(answer) === undefined).length, 1);
  }
  const { organizationId } = caller;
  assert.equal(
    (
      await db`select from events where organization_number = (select number from organizations where id = ${organizationId})`
    ).length,
    1,
  );
  assert.equal(
    (await db`select from subscriptions where organization_id = ${organizationId}`).length,
    2,
  );
});

test("two requests with one key use the last free subscription only once", async (t) => {
  const { api, caller } = await aCaller(t, db, 1);
  const answers = await Promise.all(Array.from({ length: 6 }, () => subscribe(api, caller, "k")));
  assert.deepEqual(new Set(answers.map((answer) => answer.statusCode)), new Set([201]));
  assert.equal(new Set(answers.map((answer) => answer.body)).size, 1);
});

for (const end of ["commits", "rolls back", "goes on"] as const) {
  test(`a request that waits for another with its key is answered when that ${end}`, async (t) => {
    const { api, caller } = await aCaller(t, db);
    const winner = { ...(await subscribe(api, caller, "first")).json<{ id: string }>() };
    let waiting: Promise<Answer> | undefined;
    const other = db.begin(async (tx) => {
      await tx`
        insert into kept_answers (organization_id, route, key, request_hash, subscription_id, at)
        select organization_id, route, 'k', request_hash, subscription_id, at
          from kept_answers where subscription_id = ${winner.id.slice(3)}`;
      waiting = subscribe(api, caller, "k");
      await untilBlocked(db);
      if (end === "goes on") await waiting;
      if (end === "rolls back") throw new Error("the other's own");
    });
    await other.catch((error: unknown) => {
      if (end !== "rolls back") throw error;
    });
    assert.ok(waiting);
    const answer = await waiting;
    if (end === "rolls back")
      assert.deepEqual([answer.statusCode, replayed(answer)], [201, undefined]);
    else if (end === "commits")
      assert.equal(answer.statusCode, 404, "the first answer, which is erased");
    else assert.deepEqual([answer.statusCode, codeOf(answer)], [409, "request_in_progress"]);
  });
}
