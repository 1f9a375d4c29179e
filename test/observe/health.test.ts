import assert from "node:assert/strict";
import { test } from "node:test";
import type { HealthChecks } from "../../src/http/health.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { DatabaseClock } from "../../src/observe/database-clock.ts";
import { Readiness } from "../../src/observe/health.ts";
import { Writes } from "../../src/observe/outage.ts";
import type { KeyRing } from "../../src/subjects/secrets/rules.ts";
import { createDatabase, ownerOf } from "../support/database.ts";
import { aSubscription, createEngine } from "../support/engine.ts";

const db = await createDatabase();

function readinessOf(databaseMs?: number, id = "mine", of = db, writes = new Writes(of)) {
  const ring: KeyRing = [{ id, key: Buffer.alloc(32) }];
  return new Readiness(
    { db: of, writes, clock: new DatabaseClock(of), ring },
    systemClock,
    databaseMs,
  );
}

test("a silent database is reported at once, not when a statement times out", async () => {
  await ownerOf(db).begin(async (busy) => {
    await busy`lock table schema_migrations`;
    const [database] = await readinessOf(50).forPartners.ready();
    assert.deepEqual(database, { name: "database", ok: false, detail: "unreachable" });
  });
  const checks = await readinessOf().forPartners.ready();
  assert.ok(checks.every(({ ok }) => ok));
});

test("a process whose database does not accept writes is not ready", async () => {
  const single = await createDatabase({ max: 1 });
  const databaseOf = async () =>
    (await readinessOf(undefined, "mine", single).forPartners.ready())[0];
  await single`set default_transaction_read_only = on`;
  assert.deepEqual(await databaseOf(), {
    name: "database",
    ok: false,
    detail: "does not accept writes",
  });
  await single`set default_transaction_read_only = off`;
  assert.deepEqual(await databaseOf(), { name: "database", ok: true });
});

test("a process is not ready for a while after a failed write, unless a write succeeds", async () => {
  const writes = new Writes(db);
  const away = Object.assign(new Error("no answer"), { code: "ETIMEDOUT" });
  await assert.rejects(writes.note(Promise.reject(away)), away);
  const detail = "does not accept writes";
  const readiness = () => readinessOf(undefined, "mine", db, writes).forPartners;
  assert.deepEqual((await readiness().ready())[0], { name: "database", ok: false, detail });
  await writes.note(Promise.resolve());
  assert.ok(await isReady(readiness()));
});

test("a stopping process is not ready on either listener", async () => {
  const readiness = readinessOf();
  assert.ok(await isReady(readiness.forPartners));
  assert.ok(await isReady(readiness.forOperators));
  readiness.noteStopping();
  const stopping = [{ name: "stopping", ok: false }];
  assert.deepEqual(await readiness.forPartners.ready(), stopping);
  assert.deepEqual(await readiness.forOperators.ready(), stopping);
});

for (const fault of ["no_resolver", "no_descriptors", "no_ports", "no_route"] as const) {
  test(`${fault} is shown to operators and does not affect readiness`, async () => {
    const readiness = readinessOf();
    readiness.noteFault(fault);
    const checks = await readiness.forOperators.ready();
    const [last] = checks.slice(-1);
    assert.deepEqual([last?.name, last?.ok], [fault, false]);
    assert.ok(await isReady(readiness.forPartners));
  });
}

for (const fault of ["lease_spent", "unexpected"] as const) {
  test(`${fault} does not affect readiness`, async () => {
    const readiness = readinessOf();
    readiness.noteFault(fault);
    assert.ok(await isReady(readiness.forOperators));
  });
}

async function isReady(health: HealthChecks): Promise<boolean> {
  return (await health.ready()).every(({ ok }) => ok);
}

test("a lost sealing key is reported and does not affect readiness; a ring that opens nothing does", async () => {
  const { deps } = await createEngine(db);
  await aSubscription(deps);
  const [{ id: known }] = deps.ring;
  const sealedIn = async (readiness: Readiness) => {
    readiness.noteFault("secret_sealed");
    return (await readiness.forOperators.ready()).at(-1);
  };
  const detail = "deliveries wait until this is repaired";
  assert.deepEqual(await sealedIn(readinessOf(undefined, known)), {
    name: "secret_sealed",
    ok: true,
    detail: `some ${detail}`,
  });
  assert.deepEqual(await sealedIn(readinessOf(undefined, "another's")), {
    name: "secret_sealed",
    ok: false,
    detail,
  });
});
