import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { loadConfig } from "../../src/config/config.ts";
import { describeDatabase, openDatabase, updateSchema } from "../../src/start/database.ts";
import { createDatabase, environmentOf, ownerOf } from "../support/database.ts";

const SEVERAL = "postgres://the%20service:secret@one:5432,two:5433/partner";

test("a database with several hosts is named by its first host", () => {
  const { databaseUrl, dataDir } = loadConfig({ DATABASE_URL: SEVERAL });
  assert.equal(describeDatabase({ ...loadConfig({}), databaseUrl, dataDir }), "one:5432");
});

test("a service with the schema's owner is warned, and keeps the rights of its functions", async () => {
  const db = await createDatabase();
  const { MIGRATION_DATABASE_URL: url = "" } = environmentOf(db);
  const said: string[] = [];
  const config = loadConfig({ DATABASE_URL: url, MIGRATION_DATABASE_URL: url });
  await updateSchema(config, url, (message) => said.push(message));

  assert.match(said.join(), /is a member of the schema's owner/);
  const [{ may } = {}] = await ownerOf(db)`
    select relacl is null or relacl::text like '%' || current_user || '=arwd%' as may
      from pg_class where oid = 'attempts'::regclass`;
  assert.equal(may, true);
});

test("a migration URL of another database is refused", async () => {
  const [one, other] = [await createDatabase(), await createDatabase()];
  await ownerOf(one)`drop table schema_migrations`;
  const env = {
    DATABASE_URL: environmentOf(one)["MIGRATION_DATABASE_URL"],
    MIGRATION_DATABASE_URL: environmentOf(other)["MIGRATION_DATABASE_URL"],
  };
  await assert.rejects(
    openDatabase(loadConfig(env), () => undefined),
    {
      message:
        "DATABASE_URL and MIGRATION_DATABASE_URL lead to different databases or schemas: correct one of them",
    },
  );
});

test("only serve and migrate set the retention of history", async () => {
  const db = await createDatabase();
  const said: string[] = [];
  const retentionAfter = async (retention: string, options: { writesRetention?: boolean }) => {
    const config = loadConfig({ ...environmentOf(db), RETENTION: retention });
    const { close } = await openDatabase(config, (message) => said.push(message), options);
    await close();
    const [row] = await ownerOf(db)<{ days: number }[]>`
      select (extract(epoch from retention()) / 86400)::int as days`;
    return row?.days;
  };
  assert.equal(await retentionAfter("365d", { writesRetention: true }), 365);
  assert.equal(await retentionAfter("30d", {}), 365);
  assert.deepEqual(said, ["history is now kept for 365d instead of 30d"]);
});

for (const [attempt, idle] of [
  ["5s", "5s"],
  ["1m", "10s"],
  ["5ms", "1s"],
] as const) {
  test(`with attempts of ${attempt} a process that is frozen in a transaction blocks others for ${idle}`, async () => {
    const env = environmentOf(await createDatabase());
    const config = loadConfig({ ...env, ATTEMPT_TIMEOUT: attempt });
    const { db, close } = await openDatabase(config, () => undefined);
    const [row] = await db<{ setting: string }[]>`
      select current_setting('idle_in_transaction_session_timeout') as setting`;
    await close();
    assert.equal(row?.setting, idle);
  });
}

test("a process whose role does not own the schema refuses to start before migrate, in one line", async () => {
  const db = await createDatabase();
  const owner = ownerOf(db);
  const { DATABASE_URL } = environmentOf(db);
  const isOpen = async () => {
    const { close } = await openDatabase(loadConfig({ DATABASE_URL }), () => undefined);
    await close();
  };
  await isOpen();
  await owner`delete from schema_migrations where version = (select max(version) from schema_migrations)`;
  await assert.rejects(isOpen(), {
    message:
      "the schema is not up to date, and this role may not change it: " +
      "run `partner-api migrate` with MIGRATION_DATABASE_URL beside DATABASE_URL",
  });
});

test("a start names other roles to which the database gives all rights to what is created", async () => {
  const db = await createDatabase();
  const owner = ownerOf(db);
  const said: string[] = [];
  const open = async () => {
    const { close } = await openDatabase(loadConfig(environmentOf(db)), (line) => said.push(line));
    await close();
  };
  await open();
  assert.deepEqual(said, []);
  const [anon, another] = [`"anon ${db.options.user}"`, `another_${db.options.user}`];
  await owner.unsafe(`create role ${anon}; create role ${another}`);
  await owner.unsafe(`grant all on api_keys to ${anon}; grant select on events to pg_monitor`);
  await owner.unsafe(`grant execute on function partner_api_publish to ${another}`);
  await open();
  assert.match(said.join(), new RegExp(`^other roles may empty .*: ${anon}, ${another}\\. `));
  await owner.unsafe(
    `revoke select on events from pg_monitor; drop owned by ${anon}, ${another}; drop role ${anon}, ${another}`,
  );
});

/** An empty schema of somebody else, in which a role with a password may have rights. */
async function aForeignSchema(rights: string) {
  const db = await createDatabase();
  const owner = ownerOf(db);
  const [role, schema] = [db.options.user, `of "${randomUUID()}"`];
  await owner`create schema ${owner(schema)}`;
  await owner.unsafe(`grant ${rights} on schema "${schema.replaceAll('"', '""')}" to "${role}"`);
  const search_path = encodeURIComponent(`"${schema.replaceAll('"', '""')}"`);
  const DATABASE_URL = `${environmentOf(db)["DATABASE_URL"]}&search_path=${search_path}`;
  const said: string[] = [];
  const open = async () => {
    const { close } = await openDatabase(loadConfig({ DATABASE_URL }), (line) => said.push(line));
    await close();
  };
  return { open, said, role, schema: `"${schema.replaceAll('"', '""')}"` };
}

test("a first start without the right to create tables names the right, and both ways to a schema", async () => {
  const { open, role, schema } = await aForeignSchema("usage");
  await assert.rejects(open(), {
    message:
      `the role ${role} may not create tables in the schema ${schema}: ` +
      "run `partner-api migrate` with the schema's owner in MIGRATION_DATABASE_URL, " +
      `or, as that owner, \`grant create on schema ${schema} to ${role}\``,
  });
});

test("in a schema of somebody else, the start says what enables publishing by SQL", async () => {
  const { open, said, schema } = await aForeignSchema("usage, create");
  await open();
  const wanted = `must run: grant usage on schema ${schema} to partner_api_publisher`;
  assert.ok(
    said.some((line) => line.endsWith(wanted)),
    said.join("\n"),
  );
});

test("a start does not wait for a session that locks the settings table", async () => {
  const db = await createDatabase();
  const config = loadConfig(environmentOf(db));
  await ownerOf(db).begin(async (busy) => {
    await busy`lock table settings in exclusive mode`;
    await assert.rejects(
      updateSchema(config, config.databaseUrl ?? "", () => undefined, { stepsMs: 500 }),
      { code: "ETIMEDOUT" }, // Without the limit the server ends the statement much later, with another code.
    );
  });
});

test("a database keeps the name of its cell, and a start with another name is refused", async () => {
  const { MIGRATION_DATABASE_URL: url = "" } = environmentOf(await createDatabase());
  const open = async (env: Record<string, string>) => {
    const { close } = await openDatabase(
      loadConfig({ DATABASE_URL: url, ...env }),
      () => undefined,
    );
    await close();
  };
  await open({ CELL: "7a" });
  await open({ CELL: "7a" });
  const differs = (cell: string) => ({
    message: `CELL is ${cell}, but the database is that of cell 7a: correct CELL or DATABASE_URL`,
  });
  await assert.rejects(open({ CELL: "7b" }), differs("7b"));
  await assert.rejects(open({}), differs("00"));
  await open({ CELL: "7a" });
});
