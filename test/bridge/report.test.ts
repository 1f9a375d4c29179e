import assert from "node:assert/strict";
import { test } from "node:test";
import type { Overview } from "../../src/subjects/activity/overview.ts";
import {
  aBridge,
  aFakeService,
  anOutbox,
  aPublishingService,
  fillOutbox,
} from "../support/bridge.ts";
import { ADMIN_TOKEN } from "../support/program.ts";
import { call } from "../support/rig.ts";

const orders = (url: string) => ({ name: "orders", kind: "outbox", url });

test("a bridge shows its sources and their lag in the overview, and leaves it when it stops", async (t) => {
  const service = await aPublishingService(t);
  const { db, url } = await anOutbox(t);
  await fillOutbox(db, { last: 30, bad: [7] });
  const bridge = await aBridge(t, { url: service.operatorUrl, sources: [orders(url)] });
  const bridges = async () => {
    const { body } = await call(`${service.operatorUrl}/api/v1/admin/overview`, {
      token: ADMIN_TOKEN,
    });
    return (body as unknown as Overview).bridges;
  };
  let shown = await bridges();
  while (shown[0]?.sources[0]?.published !== 29) shown = await bridges();
  assert.deepEqual(
    shown.map(({ version, pid, state, sources }) => ({ version, pid, state, sources })),
    [
      {
        ...{ version: "1.2.3", pid: process.pid, state: "running" },
        sources: [
          {
            ...{ name: "orders", kind: "outbox", problem: null, lag_messages: 0, lag_bytes: null },
            ...{ published: 29, set_aside: 1 },
          },
        ],
      },
    ],
  );
  await bridge.stop();
  shown = await bridges();
  while (shown.length > 0) shown = await bridges(); // An overview is kept for a second.
});

test("a service that knows no reports changes nothing: the bridge publishes and stops in order", async (t) => {
  const service = await aFakeService(t, () => ({ status: 202 }));
  const { db, url } = await anOutbox(t);
  await fillOutbox(db, { last: 10 });
  const bridge = await aBridge(t, { url: service.url, sources: [orders(url)] });
  await service.until((asked) => asked.length > 0);
  await bridge.stop();
  assert.deepEqual(
    bridge.log.filter(({ level }) => level !== "info"),
    [],
  );
});
