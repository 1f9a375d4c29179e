import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { startReporting } from "../../../src/jobs/process-reports.ts";
import { publicId } from "../../../src/lib/ids.ts";
import type { MarkView } from "../../../src/subjects/activity/marks.ts";
import { recordProcess } from "../../../src/subjects/processes/sql.ts";
import { deleteSubscription } from "../../../src/subjects/subscriptions/work.ts";
import { identity, REPORT } from "../../support/counted-engine.ts";
import { createDatabase } from "../../support/database.ts";
import { aSubscription, createEngine, publish } from "../../support/engine.ts";
import { startOperatorApi } from "../../support/operator-api.ts";

const HOUR_MS = 3_600_000;
const db = await createDatabase();
const { deps, clock } = await createEngine(db);

test("the week's starts, stops, releases, disablings and changes are marked, without reads", async (t) => {
  const { ask } = startOperatorApi(t, deps);
  const started = (version: string) => ({
    ...{ ...identity, id: randomUUID(), version },
    startedAt: clock(),
  });
  await recordProcess(db, started("1.0.0"), REPORT, clock());
  clock.advance(6 * 24 * HOUR_MS);
  const reporting = startReporting(deps, started("1.1.0"), {
    ...{ dispatcher: null, lastRecorded: () => null },
    ownProblems: () => Promise.resolve([]),
    onError: (error) => {
      throw error;
    },
  });
  await reporting.stop();

  const old = await aSubscription(deps, undefined, "https://old.example/hooks");
  for (let i = 0; i < 51; i++) await aSubscription(deps, old.organizationId);
  await db`update subscriptions set auto_disabled_at = ${clock()} where id = ${old.id}`;
  await deleteSubscription(deps, null, old.id);
  const organization = publicId("org", old.organizationId);
  await ask({ method: "POST", url: "keys", body: { organization } });
  const [event = ""] = await publish(deps, old.organizationId);
  await ask({ url: `events/${publicId("evt", event)}` });

  const marks = async (query = "") =>
    ((await ask({ url: `marks${query}` })).body as { items: MarkView[] }).items;
  assert.deepEqual((await marks()).map(({ kind, label }) => [kind, label]).sort(), [
    ["changed", "alice: create key"],
    ["disabled", "old.example was auto-disabled"],
    ["release", "release 1.1.0 started on one"],
    ["started", "one 1 started"],
    ["stopped", "one 1 stopped"],
    ["stopped", "one 1 stopped"],
  ]);
  const since = new Date(clock().getTime() - HOUR_MS).toISOString();
  assert.ok(!(await marks(`?since=${since}`)).some(({ label }) => label === "one 1 started"));
  assert.equal((await ask({ url: "marks?since=yesterday" })).status, 422);
});
