import assert from "node:assert/strict";
import { chmod, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { lastDeliveryOf, numberedId } from "../../src/lib/ids.ts";
import { connect, type Database } from "../../src/postgres/database.ts";
import { ERA } from "../support/clock.ts";
import { guideText } from "../support/guide.ts";
import { startProgram } from "../support/program.ts";
import { requireProgram } from "../support/required.ts";
import { aRig } from "../support/rig.ts";
import { ROOT } from "../support/root.ts";
import { diagnose } from "../support/service.ts";

/** A rig with expired history of one event and one delivery. With this short retention a turn takes place every second. */
async function anExpiredEvent(t: TestContext) {
  const rig = await aRig(t, { RETENTION: "1m" });
  const owner = connect(rig["MIGRATION_DATABASE_URL"] ?? "", { max: 1, name: "test" });
  const id = numberedId(ERA);
  await owner`insert into events (id, organization_number, type, occurred_at, data)
              values (${id}, 7, 'vc.test.ping', ${ERA}, '{"text":"one, two"}')`;
  await owner`insert into organizations (id, number, slug, rate_limit_per_minute, created_at)
              values (${id}, 7, 'acme', 600, ${ERA})`;
  await owner`
    insert into subscriptions (id, number, organization_id, url, events, created_at, deleted_at)
    values (${id}, 7, ${id}, 'https://acme.example/', '{vc.test.ping}', ${ERA}, ${ERA})`;
  await owner`insert into finished_deliveries (id, finished_at, subscription_number, ending, attempts, duration_ms)
              values (${lastDeliveryOf(id)}, ${ERA}, 7, 204, 1, 35)`;
  return { rig, owner, id, folder: join(rig["DATA_DIR"] ?? "", "history") };
}

async function untilNoneWaits(owner: Database): Promise<void> {
  while ((await owner`select from history_exports`).length > 0) await sleep(20);
}

test("the guide's command writes all expired history to files, and doctor checks it", async (t) => {
  if (!(await requireProgram(t, "psql", ["--version"]))) return;
  const { rig, owner, id, folder } = await anExpiredEvent(t);
  const [, command = ""] = /^ {4}EXPORT_COMMAND=(.*)$/m.exec(await guideText()) ?? [];
  assert.ok(command.startsWith("/opt/partner-api/deploy/"));
  const EXPORT_COMMAND = command.replace("/opt/partner-api", ROOT);

  const program = await startProgram(t, { ...rig, EXPORT_COMMAND, EXPORT_FOLDER: folder });
  await untilNoneWaits(owner);
  const files = await readdir(folder);
  const [events = ""] = files.filter((name) => name.startsWith(`00.public.events_20260101_`));
  const text = gunzipSync(await readFile(join(folder, events))).toString();
  const [head = "", row = ""] = text.split("\n");
  assert.equal(
    head,
    "id,occurred_at,organization_number,type,data,request_id,request_name,traceparent,organization_id",
  );
  assert.ok(row.includes('"{""text"":""one, two""}"'), row);
  assert.ok(row.startsWith(`${id},`) && row.endsWith(`,${id}`), row);
  const [finished = ""] = files.filter((name) => name.includes(".finished_deliveries_"));
  const [columns = "", delivery = ""] = gunzipSync(await readFile(join(folder, finished)))
    .toString()
    .split("\n");
  assert.match(columns, /^id,.*,event_id,subscription_id,organization_id$/);
  assert.ok(delivery.endsWith(`,${id},${id},${id}`), delivery);
  assert.equal((await owner`select from events where id = ${id}`).length, 0);
  assert.ok(
    files.every((name) => /^00\.public\.\w+_expired\.csv\.gz$/.test(name)),
    files.join(),
  );

  const { stdout } = await diagnose({ ...rig, EXPORT_COMMAND });
  assert.match(stdout, /^ok +export +.*export-history\.sh runs before/m);
  const missing = await diagnose({ ...rig, EXPORT_COMMAND: "nowhere --to x" });
  assert.match(missing.stdout, /^FAULT +export +EXPORT_COMMAND: nowhere cannot be run/m);
  assert.equal(await program.end("SIGTERM"), 0);
  await owner.end({ timeout: 1 });
});

test("a partition that a killed service had detached is exported by the next service", async (t) => {
  const { rig, owner, id } = await anExpiredEvent(t);
  const script = join(rig["DATA_DIR"] ?? "", "export");
  const write = (text: string) => writeFile(script, `#!/bin/sh\n${text}\n`);
  const journal = join(rig["DATA_DIR"] ?? "", "journal");
  await write(
    `echo $$ "$1" "\${SEALING_KEYS-kept}" > ${journal}.new; mv ${journal}.new ${journal}; sleep 600`,
  );
  await chmod(script, 0o755);
  const first = await startProgram(t, { ...rig, EXPORT_COMMAND: script });
  let begun = "";
  while (begun === "") {
    await sleep(20);
    begun = await readFile(journal, "utf8").catch(() => "");
  }
  const [pid, partition, sealed] = begun.trim().split(" ");
  assert.equal(sealed, "kept", "the service's secrets are not in the program's environment");
  assert.equal(await first.end("SIGKILL"), "SIGKILL");
  process.kill(-Number(pid), "SIGKILL");

  await write(`echo "$1" >> ${journal}`);
  await owner`update history_exports set next_at = ${ERA}`; // The lease of the dead process is over.
  const second = await startProgram(t, { ...rig, EXPORT_COMMAND: script });
  await untilNoneWaits(owner);
  assert.ok((await readFile(journal, "utf8")).includes(`\n${partition ?? ""}\n`));
  assert.equal((await owner`select from events where id = ${id}`).length, 0);
  assert.equal(await second.end("SIGTERM"), 0);
  await owner.end({ timeout: 1 });
});
