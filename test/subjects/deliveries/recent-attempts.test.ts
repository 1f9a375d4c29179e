import assert from "node:assert/strict";
import { test } from "node:test";
import type { SubscriptionId } from "../../../src/lib/ids.ts";
import type { Queryable } from "../../../src/postgres/database.ts";
import { listRecentAttempts } from "../../../src/subjects/deliveries/sql.ts";
import { createOrganization } from "../../../src/subjects/organizations/work.ts";
import { createDatabase, ownerOf } from "../../support/database.ts";
import { aSubscription, createEngine } from "../../support/engine.ts";

const db = await createDatabase();
const { deps } = await createEngine(db);
const organization = await createOrganization(deps, { slug: "acme" });

/** Successes from a moment on, one a second unless said, in no order. */
async function succeed(
  id: SubscriptionId,
  count: number,
  from: string,
  stepMs = 1_000,
): Promise<void> {
  await db`
    insert into finished_deliveries (id, finished_at, subscription_number, ending, attempts, duration_ms)
    select (ms || substr(gen_random_uuid()::text, 14))::uuid, at + interval '1 ms',
           (select number from subscriptions where id = ${id}), 200, 1, 1
      from generate_series(1, ${count}::int) as n
     cross join lateral (select ${from}::timestamptz + n * ${stepMs}::int * interval '1 ms' as at) as t
     cross join lateral (select left(first_id_at(at)::text, 13) as ms) as i
     order by random()`;
}

async function rowsRead(tx: Queryable): Promise<number> {
  const [row] = await tx<{ read: number }[]>`
    select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read
      from pg_stat_xact_user_tables where relname like 'finished_deliveries%'`;
  assert.ok(row);
  return row.read;
}

async function newest() {
  return db.begin(async (tx) => {
    const owner = { kind: "organization", id: organization.id } as const;
    const before = await rowsRead(tx);
    const attempts = await listRecentAttempts(tx, owner, 100);
    const times = attempts.map(({ attemptedAt }) => attemptedAt.toISOString().slice(0, -1));
    return { times, read: (await rowsRead(tx)) - before };
  });
}

test("the newest attempts of an organization are exact, and few rows of its many subscriptions are read", async () => {
  const quiet = [];
  while (quiet.length < 40) quiet.push(await aSubscription(deps, organization.id));
  const busy = await aSubscription(deps, organization.id);
  for (const { id } of quiet) await succeed(id, 500, "2026-02-01");
  await ownerOf(db)`analyze finished_deliveries`;

  const even = await newest();
  assert.deepEqual([even.times.length, even.times[0]], [100, "2026-02-01T00:08:20.000"]);
  assert.ok(even.read <= 1_000, `${even.read} rows were read`);

  await succeed(busy.id, 150, "2026-02-02");
  const { times, read } = await newest();
  assert.deepEqual(
    [times.at(0), times.at(-1)],
    ["2026-02-02T00:02:30.000", "2026-02-02T00:00:51.000"],
  );
  assert.ok(read <= 1_000, `${read} rows were read`);
});

test("the newest attempts are exact within a second", async () => {
  const { id } = await aSubscription(deps, organization.id);
  await succeed(id, 900, "2026-02-03", 1);
  const { times } = await newest();
  assert.deepEqual(
    times,
    Array.from({ length: 100 }, (_, i) => `2026-02-03T00:00:00.${900 - i}`),
  );
});
