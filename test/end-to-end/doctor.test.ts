import assert from "node:assert/strict";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { createDatabase, environmentOf, ownerOf } from "../support/database.ts";
import { diagnose, startService } from "../support/service.ts";
import { aPartner, aRig } from "../support/rig.ts";

const ring = (id: string) => `${id}:${Buffer.alloc(32, id).toString("base64")}`;

test("doctor accepts a valid set-up, and finds a missing sealing key", async (t) => {
  const rig = { ...(await aRig(t)), SEALING_KEYS: ring("old") };
  const program = await startService(t, rig);
  await (await aPartner(program, "acme")).subscribe("https://127.0.0.1/hooks");
  await program.stop();

  // With the schema, it does not need the owner's role either.
  const confined = { ...rig, MIGRATION_DATABASE_URL: "" };
  const rotated = await diagnose({
    ...confined,
    SEALING_KEYS: `${ring("new")},${ring("old")}`,
  });
  assert.match(rotated.stdout, /^ok +sealing keys +2 in the ring: new seals 0, old seals 1$/m);
  assert.match(rotated.stdout, /^ok +database role +\w+ has only the rights that it needs$/m);

  const lost = await diagnose({ ...confined, SEALING_KEYS: ring("new") });
  assert.equal(lost.status, 1);
  assert.match(lost.stdout, /^FAULT +sealing keys .* 1 sealed secrets/m);
});

test("doctor also reports faults besides the database, and how to create a missing schema", async (t) => {
  const rig = {
    ...(await aRig(t)),
    SEALING_KEYS: ring("new"),
    EGRESS_CA_FILE: "/nowhere/ca.pem",
  };
  const away = { ...rig, DATABASE_URL: "postgres://127.0.0.1:1/x", MIGRATION_DATABASE_URL: "" };
  const { status, stdout } = await diagnose(away);
  assert.equal(status, 1);
  assert.match(stdout, /^FAULT +receivers' CA .*ca\.pem/m);
  assert.match(stdout, /^FAULT +database /m);

  const db = await createDatabase();
  await ownerOf(db)`delete from schema_migrations`;
  const { DATABASE_URL = "" } = environmentOf(db);
  const late = { ...rig, DATABASE_URL, MIGRATION_DATABASE_URL: "" };
  const explained = await diagnose(late);
  assert.match(explained.stdout, /^FAULT +database +the schema .* run `partner-api migrate`/m);
});

test("doctor names a database that reads but does not write", async (t) => {
  const db = await createDatabase();
  await ownerOf(db).unsafe(`
    create function refuse() returns trigger language plpgsql as $$
      begin raise 'the disk is full' using errcode = 'disk_full'; end $$;
    create trigger refuse before insert or update on readiness execute function refuse()`);
  const { DATABASE_URL = "" } = environmentOf(db);
  const rig = { ...(await aRig(t)), SEALING_KEYS: ring("new"), DATABASE_URL };
  const { stdout } = await diagnose({ ...rig, MIGRATION_DATABASE_URL: "" });
  assert.match(stdout, /^FAULT +database +.* does not accept writes \(the disk is full\)/m);
});

test("doctor names the rights that the service's role lacks", async (t) => {
  const db = await createDatabase();
  const owner = ownerOf(db);
  await owner`revoke insert on events from ${owner(db.options.user)}`;
  await owner`revoke update (revoked_at) on api_keys from ${owner(db.options.user)}`;
  const rig = { ...(await aRig(t)), SEALING_KEYS: ring("new"), ...environmentOf(db) };

  const lacking = await diagnose({ ...rig, MIGRATION_DATABASE_URL: "" });
  const named = "insert on events, update \\(revoked_at\\) on api_keys";
  assert.match(lacking.stdout, new RegExp(`^FAULT +database role +\\w+ lacks ${named}: `, "m"));

  const granted = await diagnose(rig);
  assert.match(granted.stdout, /^ok +database role /m);
});

test("doctor names a service's role that may create objects in the schema, in its own environment", async (t) => {
  const db = await createDatabase();
  const owner = ownerOf(db);
  await owner`grant create on schema public to ${owner(db.options.user)}`;
  const rig = { ...(await aRig(t)), SEALING_KEYS: ring("new"), ...environmentOf(db) };

  const { stdout } = await diagnose({ ...rig, MIGRATION_DATABASE_URL: "" });
  assert.match(stdout, /^FAULT +database role +\w+ may create objects in the schema, /m);
});

test("doctor names other roles that may empty the service's tables", async (t) => {
  const db = await createDatabase();
  await ownerOf(db)`grant all on events to public`;
  const rig = { ...(await aRig(t)), SEALING_KEYS: ring("new"), ...environmentOf(db) };

  const { stdout } = await diagnose({ ...rig, MIGRATION_DATABASE_URL: "" });
  assert.match(stdout, /^warn +database role +other roles may empty .*: public\. Revoke their/m);
});

test("doctor names files of the admin token and of sealing keys that every user may read", async (t) => {
  const rig = await aRig(t);
  const file = (name: string) => join(rig["DATA_DIR"] ?? "", name);
  const made = await diagnose(rig);
  assert.match(made.stdout, /^ok +sealing keys /m);
  assert.match(made.stdout, /^ok +secret files +none is accessible to every user$/m);

  await chmod(file("sealing-keys"), 0o604);
  const { stdout: one } = await diagnose(rig);
  assert.match(
    one,
    /^FAULT +secret files +accessible to every user: chmod o-rw \S+\/sealing-keys$/m,
  );

  await chmod(file("admin-token"), 0o602);
  const { stdout: both } = await diagnose(rig);
  assert.match(both, /^FAULT +secret files .* \S+\/admin-token \S+\/sealing-keys$/m);
});
