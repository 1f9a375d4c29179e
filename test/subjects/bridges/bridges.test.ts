import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test, type TestContext } from "node:test";
import type { Overview } from "../../../src/subjects/activity/overview.ts";
import {
  BRIDGE_GONE_KEPT_MS,
  BRIDGE_SILENT_MS,
  BRIDGES_MAX,
} from "../../../src/subjects/bridges/rules.ts";
import { aCountedEngine } from "../../support/counted-engine.ts";
import { createDatabase } from "../../support/database.ts";
import { PUBLISHER, READER, startOperatorApi } from "../../support/operator-api.ts";

const db = await createDatabase();

const SOURCE = {
  ...{ name: "orders", kind: "kafka", problem: null, lag_messages: 12, lag_bytes: null },
  ...{ published: 1_000, set_aside: 2 },
};
const REPORT = { version: "1.2.3", host: "edge-1", pid: 7, sources: [SOURCE] };
const aBridgeId = () => `brg_${randomUUID()}`;

async function anApi(t: TestContext) {
  const { deps, clock } = await aCountedEngine(db);
  await db`delete from bridges`;
  const { ask } = startOperatorApi(t, deps);
  const change =
    (method: "PUT" | "DELETE", token = PUBLISHER.token) =>
    async (id: string, body?: object) => {
      const authorization = `Bearer ${token}`;
      return ask({ method, url: `bridges/${id}`, authorization, ...(body && { body }) });
    };
  const shown = async () => {
    clock.advance(1_000); // An overview is kept for a second of the process's own clock.
    const { body } = await startOperatorApi(t, deps).ask({ url: "overview" });
    return (body as Overview).bridges;
  };
  return { deps, clock, change, report: change("PUT"), forget: change("DELETE"), shown };
}

test("the overview shows what each bridge reported last, with a token of the role publish", async (t) => {
  const { report, shown } = await anApi(t);
  const id = aBridgeId();
  assert.equal((await report(id, REPORT)).status, 204);
  const behind = { ...SOURCE, problem: "the broker is away", lag_messages: null, lag_bytes: 70 };
  assert.equal((await report(id, { ...REPORT, sources: [behind] })).status, 204);
  const [bridge, ...others] = await shown();
  assert.deepEqual(others, []);
  const { started_at, last_seen_at, ...rest } = bridge ?? assert.fail("no bridge");
  assert.equal(started_at, last_seen_at);
  assert.deepEqual(rest, {
    ...{ id, version: "1.2.3", host: "edge-1", pid: 7, state: "running" },
    sources: [behind],
  });
});

test("a silent bridge is gone after 30 s, and leaves the overview after a day", async (t) => {
  const { report, shown, clock } = await anApi(t);
  await report(aBridgeId(), REPORT);
  clock.advance(BRIDGE_SILENT_MS);
  assert.deepEqual(
    (await shown()).map(({ state }) => state),
    ["gone"],
  );
  clock.advance(BRIDGE_GONE_KEPT_MS);
  assert.deepEqual(await shown(), []);
  await report(aBridgeId(), REPORT);
  const [{ count } = { count: 0 }] = await db<
    { count: number }[]
  >`select count(*)::int from bridges`;
  assert.equal(count, 1, "the old row is deleted");
});

test("a bridge that stops in order is not shown, and may say so again", async (t) => {
  const { report, forget, shown } = await anApi(t);
  const id = aBridgeId();
  await report(id, REPORT);
  assert.equal((await forget(id)).status, 204);
  assert.deepEqual(await shown(), []);
  assert.equal((await forget(id)).status, 204);
});

test("only the 50 bridges that reported last are kept", async (t) => {
  const { report, shown, clock } = await anApi(t);
  const ids = Array.from({ length: BRIDGES_MAX + 3 }, aBridgeId);
  for (const id of ids) {
    clock.advance(1);
    await report(id, REPORT);
  }
  const kept = (await shown()).map(({ id }) => id);
  assert.deepEqual(kept.toSorted(), ids.slice(3).toSorted());
});

test("a report with faults is refused with all of them, and readers may not report", async (t) => {
  const { report, change } = await anApi(t);
  const long = { ...SOURCE, problem: "x".repeat(301), published: -1 };
  const { status, body } = await report(aBridgeId(), { ...REPORT, pid: "7", sources: [long] });
  assert.equal(status, 422);
  assert.deepEqual(
    (body as { errors: { pointer: string }[] }).errors.map(({ pointer }) => pointer).toSorted(),
    ["/pid", "/sources/0/problem", "/sources/0/published"],
  );
  assert.equal((await report("brg_1", REPORT)).status, 404);
  assert.equal((await change("PUT", READER.token)(aBridgeId(), REPORT)).status, 403);
});
