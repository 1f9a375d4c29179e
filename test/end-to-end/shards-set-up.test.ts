import assert from "node:assert/strict";
import { test } from "node:test";
import { createDatabase, environmentOf, ownerOf } from "../support/database.ts";
import { runProgram } from "../support/program.ts";
import { aRig } from "../support/rig.ts";

const ring = (id: string) => `${id}:${Buffer.alloc(32, id).toString("base64")}`;

test("migrate creates every shard, even two schemas of one database, and doctor checks each", async (t) => {
  const [one, other] = [await createDatabase(), await createDatabase()];
  await ownerOf(other)`create schema s2`;
  const urlOf = (db: typeof one) => environmentOf(db)["MIGRATION_DATABASE_URL"] ?? "";
  const SHARDS = `00=${urlOf(one)} 01=${urlOf(other)} 02=${urlOf(other)}?search_path=s2`;
  const rig = { ...(await aRig(t)), SEALING_KEYS: ring("new") };
  const env = { ...rig, DATABASE_URL: "", MIGRATION_DATABASE_URL: "", SHARDS };

  const migrated = await runProgram(["migrate"], env);
  assert.equal(migrated.status, 0, migrated.stderr);
  assert.match(migrated.stdout, /^shard 02: applied 0001_initial\.sql$/m);
  for (const shard of ["00", "01", "02"]) {
    assert.match(migrated.stdout, new RegExp(`^shard ${shard}: the schema is up to date$`, "m"));
  }
  const names = await ownerOf(other)`
    select value from settings where name = 'shard' union all select value from s2.settings where name = 'shard'`;
  assert.deepEqual([...names], [{ value: "01" }, { value: "02" }]);

  const { stdout } = await runProgram(["doctor"], env);
  for (const shard of ["00", "01", "02"]) {
    assert.match(stdout, new RegExp(`^ok +history +shard ${shard}: `, "m"));
  }

  const resealed = await runProgram(["reseal", "--json"], env);
  assert.equal(resealed.status, 0, resealed.stderr);
});

test("doctor names the unavailable shard and still checks the others", async (t) => {
  const { MIGRATION_DATABASE_URL: url = "" } = environmentOf(await createDatabase());
  const rig = { ...(await aRig(t)), SEALING_KEYS: ring("new") };
  const SHARDS = `00=postgres://127.0.0.1:1/x 01=${url}`;
  const env = { ...rig, DATABASE_URL: "", MIGRATION_DATABASE_URL: "", SHARDS };
  const { status, stdout } = await runProgram(["doctor"], env);
  assert.equal(status, 1);
  assert.match(stdout, /^FAULT +database +SHARDS, shard 00: .*ECONNREFUSED/m);
  assert.match(stdout, /^ok +history +shard 01: /m);
});

test("a start with another home shard is refused once an organization exists", async (t) => {
  const [one, other] = [await createDatabase(), await createDatabase()];
  const urlOf = (db: typeof one) => environmentOf(db)["MIGRATION_DATABASE_URL"] ?? "";
  const rig = { ...(await aRig(t)), SEALING_KEYS: ring("new") };
  const names = [`00=${urlOf(one)}`, `01=${urlOf(other)}`];
  const envOf = (entries: string[]) => ({
    ...{ ...rig, DATABASE_URL: "", MIGRATION_DATABASE_URL: "" },
    SHARDS: entries.join(" "),
  });
  const turned = envOf([...names].reverse());
  const migrate = (env: ReturnType<typeof envOf>) => runProgram(["migrate"], env);
  assert.equal((await migrate(turned)).status, 0, "while all are empty, the order may change");
  assert.equal((await migrate(envOf(names))).status, 0);
  const create = (env: ReturnType<typeof envOf>, slug: string) =>
    runProgram(["org", "create", slug], env);
  const { status, stderr } = await create(envOf(names), "acme");
  assert.equal(status, 0, stderr);

  const refused = await create(turned, "turned");
  assert.equal(refused.status, 1);
  assert.match(
    refused.stderr + refused.stdout,
    /its home shard is 00, so SHARDS must name 00 first/,
  );
  assert.equal((await create(envOf(names), "other")).status, 0);
});
