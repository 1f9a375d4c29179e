import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "../../src/postgres/database.ts";
import { createDatabase } from "../support/database.ts";
import { startPgBouncer } from "../support/pgbouncer.ts";
import { runProgram, startProgram } from "../support/program.ts";
import { requireProgram } from "../support/required.ts";

const db = await createDatabase();

/** Fewer connections to the server than we make, so that they go from hand to hand. */
const FEW = { default_pool_size: "2" };

for (const mode of ["session", "transaction"] as const) {
  const sizes = mode === "transaction" ? FEW : {};

  test(`in ${mode} mode our settings hold for statements and transactions`, async (t) => {
    if (!(await requireProgram(t, "pgbouncer", ["--version"]))) return;
    const { service } = await startPgBouncer(t, db, { pool_mode: mode, ...sizes });
    const pool = connect(`${service}?pool_mode=${mode}`, { max: 6, name: "test" });
    t.after(() => pool.end({ timeout: 0 }));
    const expected = ["UTC", "30s", "10s", "off", "off", "force_generic_plan"].join();
    const settings = (run: typeof pool | Parameters<Parameters<typeof pool.begin>[0]>[0]) => run<
      { all: string }[]
    >`
      select concat_ws(',', current_setting('TimeZone'), current_setting('statement_timeout'),
               current_setting('idle_in_transaction_session_timeout'), current_setting('jit'),
               current_setting('enable_seqscan'), current_setting('plan_cache_mode')) as all`;
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        n % 2 === 0 ? settings(pool) : pool.begin((tx) => settings(tx)),
      ),
    );
    for (const [row] of answers) assert.equal(row?.all, expected);
  });

  test(`in ${mode} mode the program migrates, serves and stops`, async (t) => {
    if (!(await requireProgram(t, "pgbouncer", ["--version"]))) return;
    const { service, owner } = await startPgBouncer(t, db, { pool_mode: mode, ...sizes });
    const DATABASE_URL = `${service}?pool_mode=${mode}`;
    const env = { DATABASE_URL, MIGRATION_DATABASE_URL: `${owner}?pool_mode=${mode}` };
    const migrated = await runProgram(["migrate"], env);
    assert.equal(migrated.status, 0, migrated.stderr);
    const SEALING_KEYS = `k1:${Buffer.alloc(32, 1).toString("base64")}`;
    const program = await startProgram(t, { DATABASE_URL, SEALING_KEYS });
    assert.equal((await fetch(`${program.operatorUrl}/readyz`)).status, 200);
    assert.equal(await program.end("SIGTERM"), 0);
  });
}

test("a pooler that refuses our settings is named with its words and the cure", async (t) => {
  if (!(await requireProgram(t, "pgbouncer", ["--version"]))) return;
  const { service } = await startPgBouncer(t, db, { pool_mode: "session" });
  const pool = connect(service, { max: 1, name: "test" });
  t.after(() => pool.end({ timeout: 0 }));
  await assert.rejects(pool`select 1`.execute(), {
    message: /^127\.0\.0\.1:\d+: unsupported startup parameter: options \(.*pool_mode=.*\)$/,
  });
});

test("a pooler that drops our settings in silence is refused at the start, with the cure", async (t) => {
  if (!(await requireProgram(t, "pgbouncer", ["--version"]))) return;
  const dropping = { pool_mode: "transaction", ignore_startup_parameters: "options" };
  const { service } = await startPgBouncer(t, db, dropping);
  const { status, stderr } = await runProgram(["serve"], { DATABASE_URL: service });
  assert.notEqual(status, 0);
  assert.match(stderr, /pooler.*pool_mode=/);
});
