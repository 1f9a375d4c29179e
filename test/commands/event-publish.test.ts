import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { PublishedView } from "../../src/subjects/events/publish.ts";
import type { EventView } from "../../src/subjects/events/work.ts";
import { createOrganization } from "../../src/subjects/organizations/work.ts";
import { createCommandLine } from "../support/command-line.ts";
import { createDatabase } from "../support/database.ts";
import { createEngine } from "../support/engine.ts";
import { aPlatformsTypes } from "../support/platform-types.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const { deps } = await createEngine(await createDatabase(), { eventTypes: aPlatformsTypes() });
const { run, json } = createCommandLine(deps);
await createOrganization(deps, { slug: "acme" });

const publish = (data: string, ...more: string[]) => [
  ...["event", "publish", "--organization", "acme", "--type", "order.created"],
  ...["--data", data, ...more],
];

test("an event is published from the command line or a file, and shown", async (t) => {
  const folder = await aTemporaryFolder(t);
  const file = join(folder, "order.json");
  await writeFile(file, '{ "amount": 2 }\n');
  const at = ["--occurred-at", "2025-12-31T23:00:00Z"];
  const published = await json<PublishedView>(...publish(`@${file}`, ...at));
  const { event_id: id, ...rest } = published;
  assert.deepEqual(rest, { deliveries: 0, duplicate: false });

  const {
    published_at: publishedAt,
    request_id: request,
    ...event
  } = await json<EventView>(...["event", "show", id]);
  assert.equal(publishedAt, "2026-01-01T00:00:00.000Z");
  assert.notEqual(request, null);
  assert.deepEqual(event, {
    id,
    organization: "acme",
    type: "order.created",
    occurred_at: "2025-12-31T23:00:00.000Z",
    data: { amount: 2 },
    deliveries: [],
  });
  const shown = await run("event", "show", id);
  assert.match(shown.stdout, /^data +\{"amount":2\}$/m);
  const { stdout } = await run(...publish('{"amount":1}'));
  assert.match(
    stdout,
    /^evt_[0-9a-f-]{36} is published, with 0 deliveries: no active subscription lists order\.created\.\n$/,
  );
});

test("with --json an event's data cannot control the terminal, and is unchanged", async () => {
  const data = { amount: 1, note: "\u001b]0;\u009b2J\u202e\u{e0001}" };
  const { event_id: id } = await json<PublishedView>(...publish(JSON.stringify(data)));
  const { stdout } = await run("event", "show", id, "--json");
  assert.doesNotMatch(stdout, /[^\P{Cc}\n]|\p{Cf}/u);
  assert.deepEqual((JSON.parse(stdout) as EventView).data, data);
});

test("a second event with a key is not published, and the output names the first one", async () => {
  const key = ["--dedupe-key", randomUUID()];
  const first = await json<PublishedView>(...publish('{"amount":1}', ...key));
  const { status, stdout } = await run(...publish('{"amount":1}', ...key));
  assert.deepEqual([status, stdout], [0, `Not published: ${first.event_id} has this key.\n`]);
});

test("a file in another encoding is refused, and a byte order mark is no fault", async (t) => {
  const file = join(await aTemporaryFolder(t), "order.json");
  await writeFile(file, Buffer.from('{"amount": 2, "note": "Caf\u00e9"}', "latin1"));
  const { status, stderr } = await run(...publish(`@${file}`));
  assert.equal(status, 1);
  assert.match(stderr, /--data: .*not valid for encoding utf-8/);
  await writeFile(file, '\ufeff{"amount": 2}');
  assert.equal((await run(...publish(`@${file}`))).status, 0);
});

for (const [what, argv, complaint] of [
  ["data of another shape", publish('{"amount":"1"}'), /data\/amount: must be a number/],
  ["a member twice", publish('{"amount":1,"amount":2}'), /data\/amount: must not occur twice/],
  ["no JSON", publish("{"), /--data must be JSON, @file or @-: .*position 1/],
  ["a file that is not there", publish("@/nowhere/x.json"), /--data: ENOENT/],
  ["an unknown event", ["event", "show", "evt_x"], /no such event/],
] as const) {
  test(`${what} is refused with status 1`, async () => {
    const { status, stdout, stderr } = await run(...argv);
    assert.deepEqual([status, stdout], [1, ""]);
    assert.match(stderr, complaint);
  });
}
