import assert from "node:assert/strict";
import { test } from "node:test";
import { publicId, randomId } from "../../src/lib/ids.ts";
import type { Page } from "../../src/lib/page.ts";
import { getOrganization } from "../../src/subjects/organizations/work.ts";
import type { OperatedSubscriptionView } from "../../src/subjects/subscriptions/work.ts";
import { column } from "../support/columns.ts";
import { createCommandLine } from "../support/command-line.ts";
import { createDatabase } from "../support/database.ts";
import {
  anOrganization,
  aSubscription,
  createEngine,
  publish,
  refused,
} from "../support/engine.ts";

const { deps, clock, deliverDue } = await createEngine(await createDatabase());
const { run, json } = createCommandLine(deps);
const list = async (...options: string[]) =>
  (await json<Page<OperatedSubscriptionView>>("subscription", "list", ...options)).items;

test("an empty list of subscriptions is a sentence", async () => {
  assert.equal((await run("subscription", "list")).stdout, "No subscription matches.\n");
});

test("a subscription is shown as the partner sees it, without its secret", async () => {
  const made = await aSubscription(deps);
  const { slug } = await getOrganization(deps, publicId("org", made.organizationId));
  const { stdout } = await run("subscription", "list", "--json");
  assert.equal(stdout.includes(made.secret), false);
  assert.deepEqual(JSON.parse(stdout), {
    items: [
      {
        id: publicId("wh", made.id),
        organization_id: publicId("org", made.organizationId),
        url: "https://receiver.example/hooks",
        events: ["vc.test.ping"],
        active: true,
        auto_disabled_at: null,
        consecutive_failures: 0,
        created_at: "2026-01-01T00:00:00.000Z",
        organization: { id: publicId("org", made.organizationId), slug },
        max_per_second: null,
        held_at: null,
        release_by: null,
      },
    ],
    next_cursor: null,
  });
  assert.equal(
    (await run("subscription", "list")).stdout,
    `${"ID".padEnd(39)}  CREATED            STATE   AUTO-DISABLED  FAILURES\n` +
      `wh_${made.id}  2026-01-01 00:00Z  active  -              0\n` +
      `  ${slug}  https://receiver.example/hooks\n`,
  );
});

test("the list is filtered by organization and by active or auto-disabled", async () => {
  const organizationId = await anOrganization(deps);
  const { slug } = await getOrganization(deps, publicId("org", organizationId));
  const made = await aSubscription(deps, organizationId);
  await publish(deps, organizationId, 20);
  await deliverDue(() => refused);

  const [disabled, ...others] = await list("--organization", slug);
  assert.equal(others.length, 0);
  assert.equal(disabled?.id, publicId("wh", made.id));
  assert.equal(disabled.active, false);
  assert.equal(disabled.auto_disabled_at, clock().toISOString());

  assert.deepEqual(column(await list("--active", "false"), "id"), [disabled.id]);
  const active = await list("--active", "true");
  assert.ok(active.length > 0);
  assert.ok(active.every((item) => item.active && item.id !== disabled.id));
});

test("a deleted subscription is gone and its queued deliveries are cancelled", async () => {
  const made = await aSubscription(deps);
  await publish(deps, made.organizationId);
  const id = publicId("wh", made.id);
  assert.deepEqual(await run("subscription", "delete", id), {
    status: 0,
    stdout: `Subscription ${id} is deleted.\n`,
    stderr: "",
  });
  assert.ok((await list()).every((item) => item.id !== id));
  assert.equal(await deliverDue(() => refused), 0);
});

test("a ceiling is set and removed, as text and as JSON", async () => {
  const made = await aSubscription(deps);
  const id = publicId("wh", made.id);
  const set = (...argv: string[]) => run("subscription", "set-ceiling", id, ...argv);
  assert.equal((await set("25")).stdout, `Subscription ${id}: at most 25 attempts per second.\n`);
  const listed = (await list()).find((item) => item.id === id);
  assert.equal(listed?.max_per_second, 25);
  assert.deepEqual(await json("subscription", "set-ceiling", id, "25"), listed);
  assert.equal((await set("none")).stdout, `Subscription ${id} has no ceiling.\n`);
});

const refusals = [
  [
    "a ceiling that is no number",
    ["set-ceiling", publicId("wh", randomId()), "1e3"],
    "error: The request does not have the expected shape.\n  max_per_second: must be an integer or null. Attempts per second, from 1 to 10000; null for no ceiling.\n",
  ],
  [
    "a ceiling for an unknown subscription",
    ["set-ceiling", "wh_x", "10"],
    "error: There is no such resource.\n",
  ],
  ["deleting an unknown subscription", ["delete", "wh_x"], "error: There is no such resource.\n"],
  [
    "a filter that is neither true nor false",
    ["list", "--active", "constructor"],
    "error: The request does not have the expected shape.\n  active: must be true or false\n",
  ],
  [
    "an organization that does not exist",
    ["list", "--organization", "nobody"],
    "error: There is no such organization.\n",
  ],
] as const;

for (const [what, argv, stderr] of refusals) {
  test(`refuses ${what}`, async () => {
    assert.deepEqual(await run("subscription", ...argv), { status: 1, stdout: "", stderr });
  });
}

test("a subscription is held and released, and the status says so", async () => {
  const made = await aSubscription(deps);
  const id = publicId("wh", made.id);
  const { stdout } = await run("subscription", "hold", id);
  assert.match(stdout, /^Subscription wh_\S+ is held\. Release it by 2026-\S+ \d\d:\d\dZ: later /);
  const { slug } = await getOrganization(deps, publicId("org", made.organizationId));
  const listed = (await run("subscription", "list", "--organization", slug)).stdout;
  assert.match(listed, /\nwh_\S+ {2}\S+ \S+ {2}held {3}/);
  const status = (await run("status")).stdout;
  assert.match(status, /\nHELD +RECEIVER +SINCE +RELEASE BY\n/);
  assert.match(status, new RegExp(`\\n  release: partner-api subscription release ${id}\\n`));

  await run("subscription", "set-ceiling", id, "20");
  assert.equal(
    (await run("subscription", "release", id)).stdout,
    `Subscription ${id} is released, at most 20 attempts per second.\n`,
  );
  await run("subscription", "hold", id);
  const released = await json<OperatedSubscriptionView>(
    "subscription",
    "release",
    id,
    "--ceiling",
    "1",
  );
  assert.deepEqual([released.held_at, released.max_per_second], [null, 1]);
});
