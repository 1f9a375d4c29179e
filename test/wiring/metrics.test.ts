import assert from "node:assert/strict";
import { test } from "node:test";
import type { EndedAttempt } from "../../src/postgres/attempts.ts";
import type { Database } from "../../src/postgres/database.ts";
import { createMetrics } from "../../src/wiring/metrics.ts";

const now = () => new Date("2026-01-31T00:00:10Z");

/** What is exposed while the database answers so. */
function exposed(answer: () => Promise<{ due_at: Date }[]>) {
  const metrics = createMetrics(answer as unknown as Database, now, () => 3);
  const read = async () => (await metrics.expose()).body.split("\n");
  return { metrics, read };
}

test("the lag is that of the most overdue delivery, and is not told of while nobody knows it", async () => {
  let isAway = false;
  const { read } = exposed(() =>
    isAway
      ? Promise.reject(new Error("away"))
      : Promise.resolve([{ due_at: new Date("2026-01-31T00:00:00Z") }]),
  );
  const lag = async () =>
    (await read()).filter((line) => line.startsWith("partner_api_delivery_lag_seconds"));
  assert.deepEqual(await lag(), ["partner_api_delivery_lag_seconds 10"]);
  isAway = true;
  assert.deepEqual(await lag(), []);
});

test("every fault of ours is there before it has happened", async () => {
  const { read } = exposed(() => Promise.resolve([]));
  assert.ok((await read()).includes('partner_api_our_faults_total{fault="no_resolver"} 0'));
});

test("dead letters and disabled subscriptions are counted", async () => {
  const { metrics, read } = exposed(() => Promise.resolve([]));
  const deadLettered = [{}, {}] as EndedAttempt[];
  metrics.noteRecorded({ disabled: ["one"], deadLettered });
  const lines = await read();
  assert.ok(lines.includes("partner_api_dead_letters_total 2"));
  assert.ok(lines.includes("partner_api_subscriptions_disabled_total 1"));
  assert.ok(lines.includes("partner_api_delivery_lag_seconds 0"));
});
