import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { openPool } from "../support/database.ts";
import { startHaproxy } from "../support/haproxy.ts";
import { runProgram } from "../support/program.ts";
import { startLocalReceiver } from "../support/receiver.ts";
import { requireProgram, skipOrFail } from "../support/required.ts";
import { aPartner, aRig } from "../support/rig.ts";
import { duplicatesOf, Node, startLoad } from "../support/rolling-load.ts";
import { findLastRelease, type Release, unpackRelease } from "./last-release.ts";

/** Events that are published in each stage of the upgrade. */
const EVENTS = 300;

const release = await findLastRelease();

test("the last release works with the new schema under load, and its nodes are replaced one by one", async (t) => {
  if (release === null) skipOrFail(t, "this clone lacks the commit of the last release");
  else if (await requireProgram(t, "haproxy", ["-v"])) await upgrade(t, release);
});

async function upgrade(t: TestContext, release: Release) {
  const folder = await unpackRelease(t, release.commit);
  const old = { entry: pathToFileURL(join(folder, "dist/src/start/cli.js")).href };

  const set = { DRAIN: "3s", ROLE: "all" };
  const rig: Record<string, string> & typeof set = { ...(await aRig(t)), ...set };
  const owner = openPool(t, rig["MIGRATION_DATABASE_URL"] ?? "");
  await owner.unsafe("drop schema public cascade; create schema public");
  const before = await runProgram(["migrate"], rig, old);
  assert.equal(before.status, 0, before.stderr);

  // The service's role cannot migrate, so a node never changes the schema.
  const confined = { ...rig, MIGRATION_DATABASE_URL: "" };
  const nodes = [await Node.start(t, confined, old), await Node.start(t, confined, old)];
  const balancer = await startHaproxy(
    t,
    nodes.map(({ port }) => port),
  );
  const receiver = await startLocalReceiver(t);
  const [first] = nodes;
  assert.ok(first);
  const partner = await aPartner(first.program, "acme", { rateLimitPerMinute: 1_000_000 });
  const subscription = await partner.subscribe(receiver.url());

  if (release.isOlder) {
    const early = await runProgram(["serve"], { ...confined, PORT: "0", OPERATOR_PORT: "0" });
    assert.equal(early.status, 1);
    assert.match(
      early.stderr,
      /^error: .*the schema is not up to date, .*: run `partner-api migrate`.*\n$/,
    );
  }

  const load = startLoad(balancer.url, subscription, partner.token);
  const untilMore = async () => {
    const goal = load.published.all.length + EVENTS;
    await load.published.until((all) => (all.length < goal ? undefined : true));
  };
  await untilMore();
  const migrated = await runProgram(["migrate"], rig);
  assert.equal(migrated.status, 0, migrated.stderr);
  assert.equal(/^applied /m.test(migrated.stdout), release.isOlder, migrated.stdout);
  await untilMore(); // The old nodes on the new schema.
  for (const node of nodes) {
    assert.equal(await node.restart({}), 0);
    await balancer.uses(node.port);
    await untilMore();
  }

  await load.stop();
  t.diagnostic(`${release.version} (${release.commit}): ${load.published.all.length} events`);
  assert.deepEqual(load.failed, []);
  assert.deepEqual(await duplicatesOf(load.published.all, receiver), []);
}
