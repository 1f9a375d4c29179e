import assert from "node:assert/strict";
import { after, test } from "node:test";
import fc from "fast-check";
import { connect } from "../../../src/postgres/database.ts";
import { createDependencies } from "../../../src/subjects/create-dependencies.ts";
import type { Published } from "../../../src/subjects/events/publication.ts";
import { publish } from "../../../src/subjects/events/publish.ts";
import type { NewEvent } from "../../../src/subjects/events/rules.ts";
import { createDatabase, environmentOf } from "../../support/database.ts";
import { anOrganization, aSubscription, createEngine } from "../../support/engine.ts";

/** The connections of a second process. They end before the database is dropped. */
let end = () => Promise.resolve();
after(() => end());
const db = await createDatabase();
const other = connect(environmentOf(db)["DATABASE_URL"] ?? "", { max: 10, name: "other" });
end = () => other.end({ timeout: 1 });

const RUNS = Number(process.env["DEDUPE_RUNS"] ?? 25);

/** One publisher's call: its keys, its process, its own or the caller's transaction, and its end. */
interface Call {
  keys: (string | null)[];
  process: 0 | 1;
  way: "service" | "commit" | "rollback";
}

const call: fc.Arbitrary<Call> = fc.record({
  keys: fc.array(fc.constantFrom(null, "a", "b", "c", "d", "e"), { minLength: 1, maxLength: 6 }),
  process: fc.constantFrom(0, 1),
  way: fc.constantFrom("service", "service", "commit", "rollback"),
});

test("simultaneous publishes from two processes write one event for each key", async () => {
  const { deps } = await createEngine(db);
  const processes = [deps, createDependencies({ ...deps, db: other })];

  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 2, maxLength: 10 }), async (calls) => {
      const organizationId = await anOrganization(deps);
      await aSubscription(deps, organizationId);
      const toEvents = (keys: Call["keys"]): NewEvent[] =>
        keys.map((dedupeKey) => ({
          ...{ organizationId, type: "vc.test.ping", data: "{}" },
          ...(dedupeKey === null ? {} : { dedupeKey }),
        }));

      const answers = await Promise.all(
        calls.map(async ({ keys, process, way }) => {
          const one = processes[process] ?? deps;
          // A transaction of the caller takes its keys in one call, and so in one order.
          const events = toEvents(keys);
          if (way === "service") return { keys, published: await one.batched.publishAll(events) };
          let published: Published[] = [];
          await one.db
            .begin(async (tx) => {
              published = await publish(one, tx, events);
              if (way === "rollback") throw new Error("the caller's own");
            })
            .catch((error: unknown) => {
              if (way !== "rollback") throw error;
              published = [];
            });
          return { keys: published.length > 0 ? keys : [], published };
        }),
      );

      const idsOfKey = new Map<string, Set<string>>();
      const firsts = new Map<string, number>();
      const written = new Set<string>();
      for (const { keys, published } of answers) {
        keys.forEach((key, i) => {
          const one = published[i];
          assert.ok(one);
          if (!one.isDuplicate) written.add(one.eventId);
          assert.equal(one.subscriptionIds.length, one.isDuplicate ? 0 : 1);
          if (key === null) return;
          idsOfKey.set(key, (idsOfKey.get(key) ?? new Set()).add(one.eventId));
          firsts.set(key, (firsts.get(key) ?? 0) + (one.isDuplicate ? 0 : 1));
        });
      }
      for (const [key, ids] of idsOfKey) assert.equal(ids.size, 1, `one event for ${key}`);
      for (const [key, count] of firsts) assert.equal(count, 1, `one publisher of ${key}`);
      const stored = await db<{ id: string }[]>`
        select id from events where organization_number = (select number from organizations where id = ${organizationId})`;
      assert.deepEqual(new Set(stored.map((row) => row.id)), written);
      const deliveries = await db`
        select from waiting_deliveries where organization_id = ${organizationId}`;
      assert.equal(deliveries.length, written.size);
    }),
    { numRuns: RUNS },
  );
});

test("a publisher that dies in its transaction frees its keys", async () => {
  const { deps } = await createEngine(db);
  const organizationId = await anOrganization(deps);
  const event = { organizationId, type: "vc.test.ping", data: "{}", dedupeKey: "k" };
  const dies = other.begin(async (tx) => {
    await publish(deps, tx, [event]);
    const [row] = await tx<[{ pid: number }]>`select pg_backend_pid() as pid`;
    await db`select pg_terminate_backend(${row.pid})`;
    await tx`select 1`;
  });
  await assert.rejects(dies);
  const [published] = await deps.batched.publishAll([event]);
  assert.equal(published?.isDuplicate, false);
});

test("repeating a commit whose response was lost writes no second event", async () => {
  const { deps } = await createEngine(db);
  const organizationId = await anOrganization(deps);
  const event = { organizationId, type: "vc.test.ping", data: "{}", dedupeKey: "k" };
  const [lost] = await deps.batched.publishAll([event]);
  const [again] = await createDependencies({ ...deps, db: other }).batched.publishAll([event]);
  assert.deepEqual(again, { eventId: lost?.eventId, isDuplicate: true, subscriptionIds: [] });
  const rows =
    await db`select from events where organization_number = (select number from organizations where id = ${organizationId})`;
  assert.equal(rows.length, 1);
});
