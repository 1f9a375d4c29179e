import assert from "node:assert/strict";
import { test } from "node:test";
import { publicId } from "../../src/lib/ids.ts";
import type { Page } from "../../src/lib/page.ts";
import type { DeliveryDetail, DeliveryView } from "../../src/subjects/deliveries/work.ts";
import { deleteSubscription } from "../../src/subjects/subscriptions/work.ts";
import { createCommandLine } from "../support/command-line.ts";
import { createDatabase } from "../support/database.ts";
import {
  acknowledged,
  anOrganization,
  aSubscription,
  createEngine,
  publish,
  refused,
} from "../support/engine.ts";

const DAY_MS = 86_400_000;

const { deps, clock, deliverDue } = await createEngine(await createDatabase());
const { run, json } = createCommandLine(deps);
const list = async (...options: string[]) =>
  (await json<Page<DeliveryView>>("delivery", "list", ...options)).items;

const organizationId = await anOrganization(deps);
const { id: subscription } = await aSubscription(deps, organizationId);

/** Publishes an event and returns its only delivery. The receiver responds with `answers`. */
async function aDelivery(...answers: (typeof refused)[]): Promise<DeliveryView> {
  const [event = ""] = await publish(deps, organizationId);
  for (const answer of answers) {
    await deliverDue(() => answer);
    clock.advance(DAY_MS);
  }
  const [delivery] = await list("--event", publicId("evt", event));
  assert.ok(delivery);
  return delivery;
}

const sevenTimes = Array.from({ length: 7 }, () => refused);

test("an empty list of deliveries is a sentence", async () => {
  assert.equal((await run("delivery", "list")).stdout, "No delivery matches.\n");
});

test("a delivery is listed with its state and shown with all attempts", async () => {
  const { id, event_id } = await aDelivery(refused, acknowledged);
  const { stdout: table } = await run("delivery", "list");
  assert.match(table, /^ID {40}CREATED {12}STATE {6}ATTEMPTS\n/);
  const line = `${id}  2026-01-01 00:00Z  delivered  2 (http_503)\n  `;
  assert.ok(table.includes(line));
  assert.match(table, /\n {2}org-\d+ → receiver\.example {2}vc\.test\.ping\n$/);

  const shown = await json<DeliveryDetail>("delivery", "show", id);
  const { attempt_log, redeliveries, subscription: standing, ...delivery } = shown;
  assert.deepEqual(redeliveries, []);
  assert.deepEqual([standing.auto_disabled_at, standing.deleted_at], [null, null]);
  assert.deepEqual(delivery, {
    id,
    event_id,
    event_type: "vc.test.ping",
    subscription_id: publicId("wh", subscription),
    organization_id: publicId("org", organizationId),
    organization: { id: publicId("org", organizationId), slug: delivery.organization.slug },
    host: "receiver.example",
    request_id: null,
    redelivery_of: null,
    redelivered_as: null,
    state: "delivered",
    attempts: 2,
    reason: "http_503",
    created_at: "2026-01-01T00:00:00.000Z",
    due_at: null,
    finished_at: "2026-01-02T00:00:00.000Z",
    held_at: null,
    cancel_reason: null,
  });
  const [first, second] = attempt_log;
  assert.match(first?.id ?? "", /^att_/);
  assert.deepEqual(first, {
    id: first?.id,
    subscription_id: publicId("wh", subscription),
    event_id,
    event_type: "vc.test.ping",
    attempt: 1,
    status: "failed",
    http_status: 503,
    reason: "http_503",
    detail: null,
    duration_ms: 0,
    attempted_at: "2026-01-01T00:00:00.000Z",
    next_attempt_at: "2026-01-01T00:01:00.000Z",
  });
  assert.equal(second?.status, "delivered");
  assert.equal(second.reason, null);

  const { stdout } = await run("delivery", "show", id);
  assert.match(stdout, /^id {12}dlv_.*\nevent {9}evt_.* vc\.test\.ping\n/);
  assert.match(
    stdout,
    /\nATTEMPT +AT +OUTCOME +STATUS +TOOK +NEXT\n1 +.*Z +http_503 +503 +0 ms +.*Z\n/,
  );
  assert.match(stdout, /\n2 +.*Z +delivered +200 +0 ms +-\n$/);
});

test("no line of a list is wider than 120 columns", async () => {
  const { event_id } = await aDelivery(
    ...sevenTimes.map(() => ({ kind: "unreachable", reason: "address_not_public" }) as const),
  );
  const { stdout } = await run("delivery", "list", "--event", event_id);
  assert.match(stdout, /dead_lettered {2}7 \(address_not_public\)/);
  for (const line of stdout.split("\n")) assert.ok(line.length <= 120, line);
});

test("each filter narrows the list, and so do combinations", async () => {
  const dead = await aDelivery(...sevenTimes);
  const waiting = await aDelivery();
  const elsewhere = await aSubscription(deps);
  await publish(deps, elsewhere.organizationId);
  const unused = await aSubscription(deps, organizationId);
  await deleteSubscription(deps, organizationId, unused.id);

  const ids = async (...options: string[]) => (await list(...options)).map((item) => item.id);
  const all = await ids();
  const ours = await ids("--organization", publicId("org", organizationId));
  assert.equal(ours.length, all.length - 1);
  assert.deepEqual(await ids("--subscription", publicId("wh", subscription)), ours);
  assert.deepEqual(await ids("--event", "vc.test.ping"), all);
  assert.deepEqual(await ids("--event", dead.event_id), [dead.id]);
  assert.deepEqual(await ids("--event", publicId("evt", elsewhere.id)), []);
  assert.deepEqual(await ids("--state", "dead_lettered", "--reason", "http_503"), [dead.id]);
  assert.equal((await ids("--state", "waiting")).includes(waiting.id), true);
  assert.equal((await ids("--state", "waiting")).length, 2);
  assert.deepEqual(await ids("--reason", "timeout"), []);

  const organization = ["--organization", publicId("org", organizationId)];
  const oursThatAre = async (state: string) =>
    (await list(...organization)).filter((item) => item.state === state).map((item) => item.id);
  for (const state of ["waiting", "delivered", "dead_lettered", "cancelled"]) {
    assert.deepEqual(await ids(...organization, "--state", state), await oursThatAre(state));
  }

  assert.deepEqual(await ids("--since", waiting.created_at), all.slice(0, 2));
  assert.deepEqual(await ids("--until", waiting.created_at), all.slice(2));
  assert.deepEqual(await ids("--since", dead.created_at, "--until", waiting.created_at), [dead.id]);
});

test("pages continue where the previous one ended while deliveries are added and finished", async () => {
  const before = (await list()).map((item) => item.id);
  const read: string[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const options: string[] = cursor === "" ? [] : ["--cursor", cursor];
    const page: Page<DeliveryView> = await json("delivery", "list", "--limit", "2", ...options);
    assert.ok(page.items.length <= 2);
    read.push(...page.items.map((item) => item.id));
    cursor = page.next_cursor;
    clock.advance(1);
    await aDelivery(acknowledged);
  }
  assert.deepEqual(read, before);
});

test("a dead-lettered delivery is redelivered as a new delivery of the same event", async () => {
  const dead = await aDelivery(...sevenTimes);
  const again = await json<DeliveryView>("delivery", "redeliver", dead.id);
  assert.notEqual(again.id, dead.id);
  assert.deepEqual(again, {
    ...dead,
    id: again.id,
    redelivery_of: dead.id,
    state: "waiting",
    attempts: 0,
    reason: null,
    created_at: clock().toISOString(),
    due_at: clock().toISOString(),
    finished_at: null,
  });
  assert.match(
    (await run("delivery", "show", again.id)).stdout,
    /\n\nNo finished attempts yet\.\n$/,
  );
  await deliverDue(() => acknowledged);
  const shown = await json<DeliveryDetail>("delivery", "show", again.id);
  assert.deepEqual([shown.state, shown.attempts], ["delivered", 1]);
});

test("a redelivery may go to another subscription of the same organization, and to no other", async () => {
  const dead = await aDelivery(...sevenTimes);
  const other = await aSubscription(deps, organizationId);
  const foreign = await aSubscription(deps);
  const to = (id: string) => run("delivery", "redeliver", dead.id, "--to", id);

  const { stdout } = await to(publicId("wh", other.id));
  assert.match(stdout, /^Delivery dlv_\S+ is queued: evt_\S+ to wh_\S+\.\n$/);
  assert.ok(stdout.includes(`${dead.event_id} to wh_${other.id}`));

  const refusal = { status: 1, stdout: "", stderr: "error: There is no such subscription.\n" };
  assert.deepEqual(await to(publicId("wh", foreign.id)), refusal);
  assert.deepEqual(await to(other.id), refusal); // An id without its prefix is invalid.
});

test("a waiting or delivered delivery cannot be redelivered", async () => {
  const waiting = await aDelivery();
  const { status, stderr } = await run("delivery", "redeliver", waiting.id);
  assert.deepEqual(
    [status, stderr],
    [
      1,
      "error: The delivery is waiting: only dead-lettered and cancelled deliveries can be redelivered.\n",
    ],
  );
});

const refusals = [
  ["a delivery that does not exist", ["show", "dlv_x"], "error: There is no such delivery.\n"],
  [
    "invalid filters, all listed",
    [
      ...["list", "--subscription", "x", "--event", "toString", "--state", "lost"],
      ...["--reason", "'", "--since", "yesterday", "--until", "0000-01-01T00:00:00Z"],
      ...["--limit", "0x5", "--cursor", "x"],
    ],
    "error: The request does not have the expected shape.\n" +
      "  subscription: must be the id of a subscription, wh_<uuid>\n" +
      "  event: must be the id of an event, evt_<uuid>, or a type: vc.test.ping\n" +
      "  state: must be one of waiting, delivered, dead_lettered, cancelled\n" +
      "  reason: must be http_ and a status, or one of timeout, dns_error, address_not_public, connection_refused, connection_reset, tls_error, network_error, protocol_error, interrupted\n" +
      "  since: must be a time from 1970 on, such as 2026-01-31T23:59:59Z\n" +
      "  until: must be a time from 1970 on, such as 2026-01-31T23:59:59Z\n" +
      "  limit: must be an integer from 1 to 200\n" +
      "  cursor: must be the next_cursor of a page of this list\n",
  ],
] as const;

for (const [what, argv, stderr] of refusals) {
  test(`refuses ${what}`, async () => {
    assert.deepEqual(await run("delivery", ...argv), { status: 1, stdout: "", stderr });
  });
}

test("a delivery is shown with its organization and the state of its subscription", async () => {
  const { id: ended, organizationId: foreign } = await aSubscription(deps);
  const [event = ""] = await publish(deps, foreign);
  const [{ id } = { id: "" }] = await list("--event", publicId("evt", event));
  const shown = async () => (await run("delivery", "show", id)).stdout;
  assert.match(
    await shown(),
    /\nsubscription +wh_\S+\nurl +https:\S+\norganization +org_\S+ \S+\n/,
  );

  await deps.db`update subscriptions set auto_disabled_at = ${clock()} where id = ${ended}`;
  assert.match(await shown(), /\nsubscription +wh_\S+, auto-disabled 20\S+Z\n/);

  clock.advance(DAY_MS);
  await deleteSubscription(deps, foreign, ended);
  const { subscription: standing, ...delivery } = await json<DeliveryDetail>(
    "delivery",
    "show",
    id,
  );
  assert.deepEqual([delivery.state, standing.deleted_at], ["cancelled", clock().toISOString()]);
  assert.match(await shown(), /\nsubscription +wh_\S+, deleted 20\S+Z\n/);
  const terminal = createCommandLine(deps, { clock, isTerminal: true });
  assert.match(
    (await terminal.run("delivery", "show", id)).stdout,
    /\nTo send it to another subscription: partner-api delivery redeliver dlv_\S+ --to wh_…\n/,
  );
});

test("the outcome of an attempt without a status shows its cause", async () => {
  const detail = "certificate_expired";
  const expired = { kind: "unreachable", reason: "tls_error", detail } as const;
  const { id } = await aDelivery(expired, acknowledged);
  const { attempt_log } = await json<DeliveryDetail>("delivery", "show", id);
  assert.deepEqual(
    attempt_log.map((attempt) => attempt.detail),
    [detail, null],
  );
  const { stdout } = await run("delivery", "show", id);
  assert.match(stdout, /\n1 +.*Z +tls_error \(certificate_expired\) +- +0 ms/);
});

test("a waiting delivery is attempted now, and a finished one is not", async () => {
  const { id } = await aDelivery(refused, refused);
  clock.advance(-DAY_MS);
  const { stdout } = await run("delivery", "attempt", id);
  assert.equal(stdout, `Delivery ${id} is due now: attempt 3.\n`);
  assert.equal(await deliverDue(() => acknowledged), 1);
  const refusal = await run("delivery", "attempt", id);
  assert.equal(refusal.status, 1);
  assert.match(refusal.stderr, /The delivery is delivered: only waiting deliveries/);
});
