import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import type { Config } from "../../src/config/config.ts";
import { publicId } from "../../src/lib/ids.ts";
import { createLogger } from "../../src/observe/log.ts";
import { Writes } from "../../src/observe/outage.ts";
import { createEngine } from "../../src/start/engine.ts";
import { Arrivals } from "../support/arrivals.ts";
import { aGate } from "../support/database-gate.ts";
import { createDatabase } from "../support/database.ts";
import {
  acknowledged,
  aSubscription,
  createEngine as createParts,
  publish,
} from "../support/engine.ts";

const db = await createDatabase();
const config = { dispatchConcurrency: 4, subscriptionConcurrency: 4 } as Config;
const silent = {
  log: pino({ level: "silent" }),
  onContended: () => undefined,
  onEnded: () => undefined,
  onRecorded: () => undefined,
  onInternalFault: () => undefined,
};

test("an outcome that cannot be recorded counts as a failed write", async (t) => {
  const { deps } = await createParts(db);
  const subscription = await aSubscription(deps);
  await publish(deps, subscription.organizationId);
  const gate = await aGate(t, db);
  let stop: () => Promise<void> = () => Promise.resolve();
  const noted = new Promise<boolean>((resolve) => {
    const writes = new Writes(db);
    const dispatcher = createEngine({ ...deps, db: gate.db }, config, {
      send: async () => {
        await gate.close();
        return acknowledged;
      },
      writes,
      ...silent,
      onError: () => resolve(writes.hasFailed()),
    });
    dispatcher.start();
    stop = () => dispatcher.stop();
  });
  assert.ok(await noted);
  await gate.open();
  await stop();
});

test("an outcome that the database has not taken when its lease ends is abandoned, and the log names its delivery", async (t) => {
  const { deps } = await createParts(db);
  deps.rules = { ...deps.rules, leaseMs: 1 };
  const subscription = await aSubscription(deps);
  await publish(deps, subscription.organizationId);
  const gate = await aGate(t, db);
  const lines = new Arrivals<Record<string, unknown>>();
  const dispatcher = createEngine({ ...deps, db: gate.db }, config, {
    ...silent,
    send: async () => {
      await gate.close();
      return acknowledged;
    },
    writes: new Writes(db),
    log: createLogger("warn", {
      write: (line) => lines.add(JSON.parse(line) as Record<string, unknown>),
    }),
    onError: () => undefined,
  });
  dispatcher.start();
  const line = await lines.until((all) => all[0]);
  await gate.open();
  await dispatcher.stop();
  assert.equal(line["msg"], "outcome abandoned: not recorded in time");
  assert.equal(line["subscription_id"], publicId("wh", subscription.id));
});

test("after a failed write nothing is claimed until the database commits again", async (t) => {
  const { deps } = await createParts(db);
  const subscription = await aSubscription(deps);
  await publish(deps, subscription.organizationId);

  const gate = await aGate(t, db);
  await gate.close();
  const writes = new Writes(gate.db);
  const away = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  await assert.rejects(writes.note(Promise.reject(away)), away);

  let attempts = 0;
  let failures = 0;
  let onFailure: () => void = () => undefined;
  let onAttempt: () => void = () => undefined;
  const failedTwice = new Promise<void>((resolve) => (onFailure = resolve));
  const attempted = new Promise<void>((resolve) => (onAttempt = resolve));
  const dispatcher = createEngine(deps, config, {
    send: () => {
      attempts++;
      onAttempt();
      return Promise.resolve(acknowledged);
    },
    writes,
    ...silent,
    onError: () => {
      if (++failures === 2) onFailure();
    },
  });
  dispatcher.start();

  await Promise.race([failedTwice, attempted]);
  assert.equal(attempts, 0);
  await gate.open();
  await attempted;
  await dispatcher.stop();
});
