import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Overview } from "../../src/subjects/activity/overview.ts";
import type { ActivityView } from "../../src/subjects/activity/work.ts";
import type { ProcessView } from "../../src/subjects/processes/work.ts";
import { columns } from "../support/columns.ts";
import { ADMIN_TOKEN } from "../support/program.ts";
import { status } from "../support/receiver-scripts.ts";
import { aRig, aSubscriber, call } from "../support/rig.ts";
import { startService } from "../support/service.ts";

test("two processes report themselves, one overview shows both, and a stop waits for no stream", async (t) => {
  const rig = await aRig(t);
  const api = await startService(t, { ...rig, ROLE: "api" });
  const dispatcher = await startService(t, { ...rig, ROLE: "dispatcher" });
  const { receiver, partner, subscription } = await aSubscriber(t, api);
  receiver.answer(status(200));
  for (let i = 0; i < 5; i++) await partner.ping(subscription);

  const admin = async <Body>(path: string) =>
    (await call(`${api.operatorUrl}/api/v1/admin/${path}`, { token: ADMIN_TOKEN })).body as Body;
  const read = () => admin<Overview & Record<string, unknown>>("overview");
  let overview = await read();
  while (overview.last_24h.delivered !== 5 || overview.last_24h.published !== 5) {
    await sleep(100);
    overview = await read();
  }
  assert.equal(overview.status, "ok");
  assert.deepEqual(overview.processes.map(({ role, state }) => `${role} ${state}`).sort(), [
    "api running",
    "dispatcher running",
  ]);
  assert.deepEqual(columns(overview.slowest, "id", "attempts"), [[subscription.id, 5]]);
  const day = `activity?organization=acme&step=1d&since=${new Date().toISOString()}`;
  const { items } = await admin<{ items: ActivityView[] }>(day);
  const [today] = items;
  assert.deepEqual([today?.published, today?.requests, today?.rate_limited], [5, 6, 0]);

  const stream = await fetch(`${api.operatorUrl}/api/v1/admin/overview/live`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  const events = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  assert.match((await events?.read())?.value ?? "", /^event: overview\ndata: \{"status":"ok"/);

  await dispatcher.stop();
  const { items: after } = await admin<{ items: ProcessView[] }>("processes");
  assert.deepEqual(after.map(({ role, state }) => `${role} ${state}`).sort(), [
    "api running",
    "dispatcher gone",
  ]);
  let changed = "";
  while (!changed.includes('"status":"down"')) changed = (await events?.read())?.value ?? "";
  assert.match(changed, /"code":"no_dispatcher"/);
  await api.stop();
});
