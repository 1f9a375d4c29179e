// Depends on: src

import assert from "node:assert/strict";
import { test } from "node:test";
import { arrayText } from "../../src/postgres/array-text.ts";
import { connect, inSnapshot, isUnavailable, type Queryable } from "../../src/postgres/database.ts";
import { EFFECTIVE } from "../../src/postgres/session-settings.ts";
import { createDatabase, environmentOf } from "../support/database.ts";
import { startPgBouncer } from "../support/pgbouncer.ts";
import { runProgram, startProgram } from "../support/program.ts";
import { eventIdOf, startLocalReceiver } from "../support/receiver.ts";
import { requireProgram } from "../support/required.ts";
import { aPartner, aRig } from "../support/rig.ts";

const db = await createDatabase();

/** Fewer server connections than we open, so that they change their users. */
const FEW = { default_pool_size: "2" };

/** With settings at database level that would change everything. */
const hostile = await createDatabase({ isHostile: true });

for (const mode of ["session", "transaction"] as const) {
  const sizes = mode === "transaction" ? FEW : {};

  test(`in ${mode} mode our settings apply to statements and transactions`, async (t) => {
    if (!(await requireProgram(t, "pgbouncer", ["--version"]))) return;
    const { service } = await startPgBouncer(t, hostile, { pool_mode: mode, ...sizes });
    const pool = connect(`${service}?pool_mode=${mode}`, { max: 6, name: "test" });
    t.after(() => pool.end({ timeout: 0 }));
    const expected: Record<string, string> = {
      ...EFFECTIVE,
      ...{ statement_timeout: "30s", idle_in_transaction_session_timeout: "10s" },
      ...{ lock_timeout: "0", idle_session_timeout: "0", transaction_timeout: "0" },
      ...{ jit: "off", enable_seqscan: "off", enable_indexscan: "on" },
      ...{ plan_cache_mode: "force_generic_plan", synchronous_commit: "on" },
      ...{ restrict_nonsystem_relation_kind: "" },
    };
    const settings = (run: Queryable) => run<{ all: Record<string, string> }[]>`
      select json_object_agg(name, setting) as all
        from (select name, coalesce(current_setting(name, true), ${"0"}) as setting
                from unnest(${arrayText(Object.keys(expected))}::text::text[]) as name) s`;
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        n % 2 === 0 ? settings(pool) : pool.begin((tx) => settings(tx)),
      ),
    );
    for (const [row] of answers) assert.deepEqual(row?.all, expected);
  });

  test(`in ${mode} mode the program migrates, delivers and stops`, async (t) => {
    if (!(await requireProgram(t, "pgbouncer", ["--version"]))) return;
    const own = await createDatabase();
    const { service, owner } = await startPgBouncer(t, own, { pool_mode: mode, ...sizes });
    const ways = {
      DATABASE_URL: `${service}?pool_mode=${mode}`,
      MIGRATION_DATABASE_URL: `${owner}?pool_mode=${mode}`,
    };
    const migrated = await runProgram(["migrate"], ways);
    assert.equal(migrated.status, 0, migrated.stderr);

    const program = await startProgram(t, { ...(await aRig(t)), ...ways });
    const receiver = await startLocalReceiver(t);
    const partner = await aPartner(program, mode);
    const subscription = await partner.subscribe(receiver.url("/hooks"));
    const { body: accepted } = await partner.ping(subscription);
    assert.equal(eventIdOf(await receiver.next()), accepted["event_id"]);

    assert.equal((await fetch(`${program.operatorUrl}/readyz`)).status, 200);
    assert.equal(await program.end("SIGTERM"), 0);
  });

  test(`in ${mode} mode several statements can read one snapshot`, async (t) => {
    if (!(await requireProgram(t, "pgbouncer", ["--version"]))) return;
    const { service } = await startPgBouncer(t, db, { pool_mode: mode, ...sizes });
    const pool = connect(`${service}?pool_mode=${mode}`, { max: 1, name: "test" });
    t.after(() => pool.end({ timeout: 0 }));
    const [row] = await inSnapshot(
      pool,
      (tx) => tx<{ level: string }[]>`select current_setting('transaction_isolation') as level`,
    );
    assert.equal(row?.level, "repeatable read");
  });
}

test("an error names a pooler in transaction mode and the repair", async (t) => {
  if (!(await requireProgram(t, "pgbouncer", ["--version"]))) return;
  const { service } = await startPgBouncer(t, db, { pool_mode: "transaction", ...FEW });
  const pool = connect(`${service}?pool_mode=session`, { max: 6, name: "test" });
  t.after(() => pool.end({ timeout: 0 }));
  const ask = () => pool.begin((tx) => tx`select ${1}::int as one`);
  const answers = await Promise.allSettled(Array.from({ length: 40 }, ask));
  const errors = answers.flatMap((a) => (a.status === "rejected" ? [a.reason as Error] : []));
  assert.ok(errors.length > 0);
  for (const error of errors) {
    assert.match(error.message, /prepared statement .* \(.*pool_mode=transaction/);
    assert.ok(isUnavailable(error));
  }
});

test("a pooler in transaction mode is refused at the start if the URL demands session mode", async (t) => {
  if (!(await requireProgram(t, "pgbouncer", ["--version"]))) return;
  for (const settings of [FEW, { default_pool_size: "20", server_round_robin: "1" }]) {
    const { service } = await startPgBouncer(t, db, { pool_mode: "transaction", ...settings });
    const DATABASE_URL = `${service}?pool_mode=session`;
    const starting = startProgram(t, { ...(await aRig(t)), DATABASE_URL });
    await assert.rejects(
      starting,
      /DATABASE_URL: the URL says pool_mode=session.*set pool_mode=transaction/,
    );
  }
});

test("migrate and doctor refuse a pooler in transaction mode as well", async (t) => {
  if (!(await requireProgram(t, "pgbouncer", ["--version"]))) return;
  const { service, owner } = await startPgBouncer(t, db, { pool_mode: "transaction", ...FEW });
  const DATABASE_URL = `${service}?pool_mode=session`;

  const doctor = await runProgram(["doctor"], { ...(await aRig(t)), DATABASE_URL });
  assert.equal(doctor.status, 1);
  assert.match(doctor.stdout, /^FAULT +database +DATABASE_URL: the URL says pool_mode=session/m);

  const MIGRATION_DATABASE_URL = `${owner}?pool_mode=session`;
  const migrate = await runProgram(["migrate"], {
    DATABASE_URL: `${service}?pool_mode=transaction`,
    MIGRATION_DATABASE_URL,
  });
  assert.equal(migrate.status, 1);
  assert.match(
    migrate.stderr,
    /MIGRATION_DATABASE_URL: the URL says pool_mode=session.*set pool_mode=trans/,
  );
});

test("an error names a pooler that refuses our settings, its message and the repair", async (t) => {
  if (!(await requireProgram(t, "pgbouncer", ["--version"]))) return;
  const { service } = await startPgBouncer(t, db, { pool_mode: "session" });
  const pool = connect(service, { max: 1, name: "test" });
  t.after(() => pool.end({ timeout: 0 }));
  await assert.rejects(pool`select 1`.execute(), {
    message: /^127\.0\.0\.1:\d+: unsupported startup parameter: options \(.*pool_mode=.*\)$/,
  });
});

test("a pooler that silently drops our settings stops the start, with the repair", async (t) => {
  if (!(await requireProgram(t, "pgbouncer", ["--version"]))) return;
  const dropping = { pool_mode: "transaction", ignore_startup_parameters: "options" };
  const { service } = await startPgBouncer(t, db, dropping);
  const rig = { ...(await aRig(t)), ...environmentOf(db) };
  const starting = startProgram(t, { ...rig, DATABASE_URL: service });
  await assert.rejects(starting, /pooler.*pool_mode=/);
});
