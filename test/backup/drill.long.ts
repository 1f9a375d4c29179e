import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { BIN } from "../failover/member.ts";
import { guideCommand } from "../support/guide.ts";
import { requireProgram } from "../support/required.ts";
import { ROOT } from "../support/root.ts";
import { aShell } from "../support/shell.ts";
import { withBackups } from "./server.ts";
import { aService, RING } from "./service.ts";

test("the monthly drill restores the newest backup, proves that the key ring opens it, and removes everything", async (t) => {
  if (!(await requireProgram(t, "pgbackrest", ["version"]))) return;
  const rig = await withBackups(t);
  const { original, program, partner, subscription, receiver } = await aService(t, rig);
  await rig.run(await guideCommand(/--type=full/));
  await rig.run(await guideCommand(/--type=incr/));
  const { body } = await partner.ping(subscription);
  await receiver.next();
  await original.archive();
  assert.equal(await program.end("SIGTERM"), 0);

  const drills = join(rig.folder, "home");
  const shell = await aShell(t, {
    PG_BIN: BIN,
    PGBACKREST_CONFIG: rig.config,
    DRILL_DIR: drills,
    SEALING_KEYS: RING,
  });
  const drill = join(ROOT, await guideCommand(/restore-drill/));
  const before = (await readdir(drills)).sort();
  const told = await shell.runText(drill);
  assert.match(told, /^newest event: 2/m);
  assert.match(told, /^the backup is good$/m);
  assert.ok(String(body["event_id"]).startsWith("evt_"));

  shell.env["SEALING_KEYS"] = `other:${Buffer.alloc(32, 2).toString("base64")}`;
  await assert.rejects(shell.runText(drill), /some checks failed/);
  assert.deepEqual((await readdir(drills)).sort(), before);
});

test("a dump restores into an empty database, and doctor passes it", async (t) => {
  if (!(await requireProgram(t, "pgbackrest", ["version"]))) return;
  const rig = await withBackups(t);
  const service = await aService(t, rig);
  await service.partner.ping(service.subscription);
  await service.receiver.next();
  assert.equal(await service.program.end("SIGTERM"), 0);

  const { original, settings } = service;
  await original.admin`create database restored owner partner_owner`;
  const path = { PATH: `${BIN}:${process.env["PATH"] ?? ""}` };
  const shell = await aShell(t, { ...settings, PORT: "0", OPERATOR_PORT: "0" });
  shell.env["PATH"] = `${shell.env["PATH"] ?? ""}:${path.PATH}`;
  shell.env["MIGRATION_DATABASE_URL"] = original.url("partner_owner");
  await shell.runText(await guideCommand(/^pg_dump .*MIGRATION/));
  shell.env["MIGRATION_DATABASE_URL"] = original.url("partner_owner", "restored");
  shell.env["DATABASE_URL"] = original.url("partner_service", "restored");
  await shell.runText(await guideCommand(/^pg_restore/));
  await shell.runText(await guideCommand(/^partner-api migrate/));
  delete shell.env["MIGRATION_DATABASE_URL"];
  assert.match(await shell.runText(await guideCommand(/^partner-api doctor/)), /^ok +/m);
  await original.stop();
});
