import assert from "node:assert/strict";
import { test } from "node:test";
import { transact } from "../../../src/postgres/driver/transaction.ts";
import type { Prepared, Run } from "../../../src/postgres/driver/statement.ts";
import { createDatabase } from "../../support/database.ts";

const db = await createDatabase({ max: 2 });

const windows = () => db`select from rate_windows`;
const insert = (sql: typeof db | Parameters<Parameters<typeof db.begin>[0]>[0]) =>
  sql`insert into rate_windows (organization_id, opened_at, used) values (gen_random_uuid(), 'now', 1)`;

test("a transaction's result is returned once it is durable", async () => {
  const before = (await windows()).count;
  const said = await db.begin(async (tx) => {
    await insert(tx);
    assert.equal((await windows()).count, before);
    return "done";
  });
  assert.equal(said, "done");
  assert.equal((await windows()).count, before + 1);
});

test("if the work throws, the transaction is rolled back and the error is thrown", async () => {
  const before = (await windows()).count;
  const thrown = new Error("thought better of it");
  const torn = db.begin(async (tx) => {
    await insert(tx);
    throw thrown;
  });
  await assert.rejects(torn, thrown);
  assert.equal((await windows()).count, before);
});

test("a failed statement fails the transaction, even if the work catches the error", async () => {
  const before = (await windows()).count;
  const torn = db.begin(async (tx) => {
    await insert(tx);
    await tx`select 1 / 0`.catch(() => "never mind");
    await insert(tx).catch(() => "never mind");
    return "done";
  });
  await assert.rejects(torn, { code: "22012" });
  assert.equal((await windows()).count, before);
});

test("simultaneous statements of a transaction run one after the other", async () => {
  const rows = await db.begin((tx) =>
    Promise.all([1, 2, 3].map((n) => tx<[{ n: number }]>`select ${n}::int as n, pg_sleep(0.01)`)),
  );
  assert.deepEqual(
    rows.map(([row]) => row.n),
    [1, 2, 3],
  );
});

test("a statement after the end of its transaction is refused", async () => {
  const before = (await windows()).count;
  const late = await db.begin((tx) => Promise.resolve(() => insert(tx).execute()));
  await assert.rejects(late(), /the transaction is over/);
  assert.equal((await windows()).count, before);
});

/** A connection that records its statements and fails at one of them. */
function aConnection(failsAt: string) {
  const asked: string[] = [];
  const ask: Run = ({ text }: Prepared) => {
    asked.push(text);
    if (text === failsAt) return Promise.reject(new Error(`no ${text}`));
    return Promise.resolve(Object.assign([], { count: 0 }));
  };
  return { ask, asked };
}

for (const [failsAt, sent] of [
  ["begin", ["begin", "rollback"]],
  ["one", ["begin", "one", "rollback"]],
  ["commit", ["begin", "one", "two", "commit", "rollback"]],
  ["nothing", ["begin", "one", "two", "commit"]],
] as const) {
  test(`a transaction in which ${failsAt} fails sends ${sent.join(", ")}`, async () => {
    const { ask, asked } = aConnection(failsAt);
    const done = transact(ask, async (run) => {
      const both = [run({ text: "one" }), run({ text: "two" })];
      await Promise.all(both);
    });
    if (failsAt === "nothing") await done;
    else await assert.rejects(done, { message: `no ${failsAt}` });
    assert.deepEqual(asked, sent);
  });
}
