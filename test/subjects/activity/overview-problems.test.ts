import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import type { Overview } from "../../../src/subjects/activity/overview.ts";
import { recordProcess, recordProcessEnded } from "../../../src/subjects/processes/sql.ts";
import { aCountedEngine, identity, REPORT } from "../../support/counted-engine.ts";
import { aGate } from "../../support/database-gate.ts";
import { createDatabase } from "../../support/database.ts";
import { aSubscription, publish } from "../../support/engine.ts";
import { startOperatorApi } from "../../support/operator-api.ts";

const db = await createDatabase();

const problemsOf = async ({ ask }: ReturnType<typeof startOperatorApi>) => {
  const { status, problems } = (await ask({ url: "overview" })).body as Overview;
  return { status, codes: problems.map(({ code }) => code), problems };
};

test("a delivery that is overdue for a minute is a problem", async (t) => {
  const { deps, clock } = await aCountedEngine(db);
  const { organizationId } = await aSubscription(deps);
  await publish(deps, organizationId);
  const due = clock().getTime();
  clock.advance(75_000);
  await recordProcess(db, { ...identity, startedAt: clock() }, REPORT, clock());
  const { status, codes, problems } = await problemsOf(startOperatorApi(t, deps));
  assert.deepEqual([status, codes], ["degraded", ["lag"]]);
  assert.equal(problems[0]?.since, new Date(due + 60_000).toISOString());
});

test("a process that is silent for 15 s is a problem until its successor starts", async (t) => {
  const { deps, clock } = await aCountedEngine(db);
  const start = clock();
  await recordProcess(db, { ...identity, startedAt: start }, REPORT, start);
  const api = { ...identity, id: randomUUID(), role: "api" as const, startedAt: start };
  const report = () => recordProcess(db, api, REPORT, clock());

  clock.advance(14_999);
  await report();
  assert.equal((await problemsOf(startOperatorApi(t, deps))).status, "ok");
  clock.advance(1);
  await report();
  const missed = await problemsOf(startOperatorApi(t, deps));
  assert.deepEqual([missed.status, missed.codes], ["down", ["no_dispatcher", "process_gone"]]);
  assert.equal(missed.problems[0]?.since, start.toISOString());

  const heir = { ...identity, id: randomUUID(), startedAt: clock() };
  await recordProcess(db, heir, REPORT, clock());
  assert.equal((await problemsOf(startOperatorApi(t, deps))).status, "ok");

  clock.advance(86_400_000);
  await report();
  const { ask } = startOperatorApi(t, deps);
  const { items } = (await ask({ url: "processes" })).body as { items: { role: string }[] };
  assert.deepEqual(
    items.map(({ role }) => role),
    ["all", "api"],
    "the process that ended a day ago has left the list",
  );
});

test("a process that stops normally is no problem", async (t) => {
  const { deps, clock } = await aCountedEngine(db);
  const ended = { ...identity, startedAt: clock() };
  await recordProcess(db, ended, REPORT, clock());
  await recordProcess(db, { ...ended, id: randomUUID() }, REPORT, clock());
  await recordProcessEnded(db, ended.id, clock());
  const { ask } = startOperatorApi(t, deps);
  const { status, processes } = (await ask({ url: "overview" })).body as Overview;
  assert.equal(status, "ok");
  assert.deepEqual(processes.map(({ state }) => state).sort(), ["gone", "running"]);
});

test("a stopping process reports this", async (t) => {
  const { deps, clock } = await aCountedEngine(db);
  await recordProcess(
    db,
    { ...identity, startedAt: clock() },
    { ...REPORT, isStopping: true },
    clock(),
  );
  const { ask } = startOperatorApi(t, deps);
  const { processes } = (await ask({ url: "overview" })).body as Overview;
  assert.equal(processes[0]?.state, "stopping");
});

test("internal faults of all processes are shown with their hosts, and failed checks of this one", async (t) => {
  const since = "2026-01-01T00:00:00.000Z";
  const clockFault = { code: "clock", detail: "clock: 7 s from the database's clock", since };
  const { deps, clock } = await aCountedEngine(db, {
    ownProblems: () => Promise.resolve([clockFault]),
  });
  const fault = { code: "no_resolver", detail: "no_resolver: deliveries wait", since };
  const report = { ...REPORT, problems: [fault, clockFault] };
  await recordProcess(db, { ...identity, startedAt: clock() }, report, clock());
  const { status, problems } = await problemsOf(startOperatorApi(t, deps));
  assert.equal(status, "degraded");
  assert.deepEqual(problems, [
    clockFault,
    { ...fault, detail: "no_resolver: deliveries wait (one, process 1)" },
  ]);
});

test("processes with different event types are a problem until they have the same", async (t) => {
  const { deps, clock } = await aCountedEngine(db);
  await recordProcess(db, { ...identity, startedAt: clock() }, REPORT, clock());
  const node = (names: string[]) => db`
    insert into event_type_nodes (id, names, seen_at) values (gen_random_uuid(), ${names}, ${clock()})`;
  await node(["order.created"]);
  await node(["order.created"]);
  assert.equal((await problemsOf(startOperatorApi(t, deps))).status, "ok");
  await node(["order.created", "order.paid"]);
  const { status, codes } = await problemsOf(startOperatorApi(t, deps));
  assert.deepEqual([status, codes], ["degraded", ["event_types"]]);
  await db`delete from event_type_nodes`;
});

test("without the database the overview shows only this problem", async (t) => {
  const { deps, clock } = await aCountedEngine(db);
  const gate = await aGate(t, db);
  await gate.close();
  const { ask } = startOperatorApi(t, { ...deps, db: gate.db });
  assert.deepEqual((await ask({ url: "overview" })).body, {
    status: "down",
    problems: [
      {
        code: "database",
        detail: "The database is unavailable: it does not answer",
        since: clock().toISOString(),
      },
    ],
    now: {
      deliveries_per_second: null,
      success_share: null,
      attempt_ms: { p50: null, p99: null },
      waiting: { due: null, scheduled: null, held: null, estimated: false },
      oldest_due_seconds: null,
      attempts_under_way: null,
    },
    last_24h: {
      published: null,
      delivered: null,
      dead_lettered: null,
      cancelled: null,
      disabled: null,
    },
    failing: [],
    slowest: [],
    near_limit: [],
    held: [],
    processes: [],
    bridges: [],
  });
});
