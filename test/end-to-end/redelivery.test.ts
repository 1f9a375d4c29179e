import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { Page } from "../../src/lib/page.ts";
import type { DeliveryView } from "../../src/subjects/deliveries/work.ts";
import type { RedeliveryView } from "../../src/subjects/redeliveries/work.ts";
import { ADMIN_TOKEN, type Served, startProgram } from "../support/program.ts";
import { status } from "../support/receiver-scripts.ts";
import { eventIdOf } from "../support/receiver.ts";
import { aRig, aSubscriber, call } from "../support/rig.ts";
import { startService } from "../support/service.ts";

const EVENTS = 40;
const RATE = 20;
/** The deliveries of one run, and so the most that are in flight at the kill. */
const BATCH = RATE / 4;

async function admin<Answer>(
  { operatorUrl }: Served,
  path: string,
  request: { method?: string; body?: unknown } = {},
): Promise<Answer> {
  const url = `${operatorUrl}/api/v1/admin/${path}`;
  const { status, body } = await call(url, { token: ADMIN_TOKEN, ...request });
  assert.ok(status < 300, `${path}: ${JSON.stringify(body)}`);
  return body as Answer;
}

/** Repeats the request until the answer is the expected one. */
async function until<Answer>(
  ask: () => Promise<Answer>,
  isWanted: (answer: Answer) => boolean,
): Promise<Answer> {
  for (;;) {
    const answer = await ask();
    if (isWanted(answer)) return answer;
    await delay(20);
  }
}

test("kill -9 during a redelivery: another process continues, and nothing is sent twice", async (t) => {
  // A lease of six seconds, for attempts that the kill interrupts.
  const rig = await aRig(t, {
    RETRY_DELAYS: "10ms",
    AUTO_DISABLE_AFTER: "1000",
    ATTEMPT_TIMEOUT: "2s",
  });
  const first = await startProgram(t, rig);
  const { receiver, partner, subscription } = await aSubscriber(t, first);
  receiver.answer(status(500));
  const events = new Set<string>();
  for (let i = 0; i < EVENTS; i++) {
    events.add(String((await partner.ping(subscription)).body["event_id"]));
  }
  const all = `deliveries?subscription=${subscription.id}&limit=200`;
  const listed = (program: Served, state: string) =>
    admin<Page<DeliveryView>>(program, `${all}&state=${state}`);
  await until(
    () => listed(first, "dead_lettered"),
    ({ items }) => items.length === EVENTS,
  );
  for (let i = 0; i < 2 * EVENTS; i++) await receiver.next(); // Two attempts of each.

  const journal: string[] = [];
  receiver.answer(({ received, response }) => {
    journal.push(eventIdOf(received));
    response.writeHead(204).end();
  });
  const body = { filter: { subscription: subscription.id }, rate_per_second: RATE };
  const job = await admin<RedeliveryView>(first, "redeliveries", { method: "POST", body });
  const jobOn = (program: Served) => admin<RedeliveryView>(program, `redeliveries/${job.id}`);
  const { done } = await until(
    () => jobOn(first),
    (now) => now.done >= EVENTS / 4,
  );
  assert.ok(done < EVENTS, "the job is half way");
  assert.equal(await first.end("SIGKILL"), "SIGKILL");

  const second = await startService(t, rig);
  const finished = await until(
    () => jobOn(second),
    ({ state }) => state === "finished",
  );
  assert.deepEqual([finished.done, finished.skipped, finished.failed], [EVENTS, 0, 0]);
  const { items } = await until(
    () => listed(second, "delivered"),
    (page) => page.items.length >= EVENTS,
  );
  assert.equal(items.length, EVENTS);
  assert.equal(new Set(items.map((item) => item.redelivery_of)).size, EVENTS);
  assert.deepEqual(new Set(journal), events);
  // Only attempts that the kill interrupted before they were recorded are repeated.
  assert.ok(journal.length <= EVENTS + BATCH, `${journal.length} requests`);
});
