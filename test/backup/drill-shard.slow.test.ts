// Depends on: src, docs, ops, deploy

import assert from "node:assert/strict";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { connect } from "../../src/postgres/database.ts";
import { BIN } from "../failover/member.ts";
import { guideCommand } from "../support/guide.ts";
import { runProgram } from "../support/program.ts";
import { requireProgram } from "../support/required.ts";
import { ROOT } from "../support/root.ts";
import { aShell } from "../support/shell.ts";
import { type Backups, withBackups } from "./server.ts";
import { RING } from "./service.ts";

/** Two shards in two schemas of a server that has stopped. */
async function twoShards(rig: Backups): Promise<void> {
  const { admin, url, stop } = await rig.start(rig.data, { archives: false });
  await admin`create role partner_owner login`;
  await admin`create role partner_service login`;
  await admin`create database partner owner partner_owner`;
  const owner = connect(url("partner_owner"), { max: 1, name: "test" });
  await owner`create schema s1`;
  await owner.end({ timeout: 1 });
  const named = (role: string) => `00=${url(role)} 01=${url(role)}?search_path=s1`;
  const { status, stderr } = await runProgram(["migrate"], {
    ...{ SHARDS: named("partner_service"), MIGRATION_DATABASE_URL: named("partner_owner") },
    SEALING_KEYS: RING,
  });
  assert.equal(status, 0, stderr);
  await stop();
}

/** Makes a program in place of pgBackRest that restores by copying a folder. */
async function aCopier({ folder, data }: Backups): Promise<string> {
  const place = join(folder, "bin");
  await mkdir(place, { mode: 0o755 });
  const program = join(place, "pgbackrest");
  const copy = `for one; do case $one in --pg1-path=*) cp -a '${data}/.' "\${one#*=}"; esac; done`;
  await writeFile(program, `#!/bin/sh\n${copy}\n`);
  await chmod(program, 0o755);
  return place;
}

test("the drill checks each shard of a server by itself, also one that is not the home shard", async (t) => {
  if (!(await requireProgram(t, join(BIN, "postgres"), ["--version"]))) return;
  const rig = await withBackups(t);
  await twoShards(rig);
  const shell = await aShell(t, {
    ...{ PG_BIN: BIN, DRILL_DIR: join(rig.folder, "home"), SEALING_KEYS: RING },
  });
  shell.env["PATH"] = [await aCopier(rig), shell.env["PATH"]].join(delimiter);
  const drill = join(ROOT, await guideCommand(/restore-drill/));
  for (const [schema, shard] of [
    ["public", "00"],
    ["s1", "01"],
  ] as const) {
    shell.env["SCHEMA"] = schema;
    const told = await shell.runText(drill);
    assert.match(told, new RegExp(`^shard: ${shard}$`, "m"));
    assert.match(told, /^the backup is good$/m);
  }
});
