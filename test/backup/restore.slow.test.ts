// Depends on: src, deploy, docs/operations.md
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { publicId } from "../../src/lib/ids.ts";
import { connect, type Database } from "../../src/postgres/database.ts";
import { untilNoneWaits } from "../ledger/books.ts";
import { guideCommand } from "../support/guide.ts";
import { startProgram } from "../support/program.ts";
import type { Received } from "../support/receiver.ts";
import { requireProgram } from "../support/required.ts";
import { partnerOf } from "../support/rig.ts";
import { type Backups, withBackups } from "./server.ts";
import { aService } from "./service.ts";

const CALLERS = 8;

const wholeSeconds = () => Math.floor(Date.now() / 1_000);

interface Accepted {
  event: string;
  sentAt: number;
  at: number;
}

test("a restore to a moment under load loses no accepted event, and the ledger explains duplicates", async (t) => {
  if (!(await requireProgram(t, "pgbackrest", ["version"]))) return;
  const rig = await withBackups(t);
  const { original, env, receiver, program, partner, subscription } = await aService(t, rig);

  const accepted: Accepted[] = [];
  let isOver = false;
  const callers = Array.from({ length: CALLERS }, async () => {
    while (!isOver) {
      const sentAt = Date.now();
      const { status, body } = await partner.ping(subscription);
      assert.equal(status, 200);
      accepted.push({ event: String(body["event_id"]), sentAt, at: Date.now() });
    }
  });
  const more = async (count: number) => {
    for (const wanted = accepted.length + count; accepted.length < wanted;) await delay(10);
  };
  await more(50);
  await rig.run(await guideCommand(/--type=full/));
  const backedUp = wholeSeconds();
  await more(50);
  while (wholeSeconds() === backedUp) await more(1); // pgBackRest rounds the end of a backup to seconds.
  const [now] = await original.admin<
    { moment: string }[]
  >`select clock_timestamp()::text as moment`;
  const moment = now?.moment ?? "";
  await more(50);
  isOver = true;
  await Promise.all(callers);
  await original.archive();
  await program.end("SIGTERM");
  const before = receiver.requests.length;
  await original.stop();

  const restored = join(rig.data, "../restored");
  await promisify(execFile)("install", ["-d", "-m", "700", ...owner(rig), restored]);
  const command = await guideCommand(/ restore /);
  assert.match(command, /--target="[^"]*"/);
  await rig.run(command.replace(/--target="[^"]*"/, `--target="${moment}"`), {
    PGBACKREST_PG1_PATH: restored,
  });
  const server = await rig.start(restored, { archives: false });
  const db = connect(server.url("partner_owner"), { max: 2, name: "test" });
  const restoredEvents = await idsOf(db, "events", "id");
  const waiting = await idsOf(db, "waiting_deliveries", "event_id");

  const again = await startProgram(t, env(server));
  await untilNoneWaits(db, t.signal);
  const sentAgain = new Set(receiver.requests.slice(before).map(eventOf));
  const atMs = Date.parse(moment);
  const kept = (one: Accepted) => restoredEvents.has(one.event);
  const lost = accepted.filter((one) => one.at < atMs && !kept(one));
  const undone = accepted.filter((one) => one.sentAt > atMs && kept(one));
  const twice = receiver.requests
    .slice(0, before)
    .map(eventOf)
    .filter((id) => sentAgain.has(id));
  t.diagnostic(
    `${accepted.length} accepted, ${restoredEvents.size} restored, ${twice.length} sent twice`,
  );

  assert.deepEqual(lost, [], "accepted before the moment");
  assert.deepEqual(undone, [], "accepted after the moment");
  assert.deepEqual(sentAgain, waiting, "only deliveries that waited at the moment are sent");
  assert.ok(twice.length > 0, "attempts were in flight at the moment");
  const seen = new Set(receiver.requests.map(eventOf));
  assert.deepEqual(
    [...restoredEvents].filter((id) => !seen.has(id)),
    [],
    "all were delivered",
  );

  const { status } = await partnerOf(again, partner.token).ping(subscription);
  assert.equal(status, 200); // Proves that the key ring opens the restored secrets.
  assert.equal(await again.end("SIGTERM"), 0);
  await db.end({ timeout: 1 });
  await server.stop();
});

async function idsOf(db: Database, table: string, column: string): Promise<Set<string>> {
  const rows = await db<{ id: string }[]>`select ${db(column)} as id from ${db(table)}`;
  return new Set(rows.map(({ id }) => publicId("evt", id)));
}

function eventOf({ body }: Received): string {
  return (JSON.parse(body.toString()) as { id: string }).id;
}

function owner({ account: { uid, gid } }: Backups): string[] {
  return uid === undefined ? [] : ["-o", String(uid), "-g", String(gid)];
}
