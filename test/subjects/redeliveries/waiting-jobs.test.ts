import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { runRedelivery } from "../../../src/jobs/redelivery.ts";
import type { Page } from "../../../src/lib/page.ts";
import type { DeliveryDetail, DeliveryView } from "../../../src/subjects/deliveries/work.ts";
import type { RedeliveryPreview } from "../../../src/subjects/redeliveries/work.ts";
import { changeSubscription } from "../../../src/subjects/subscriptions/work.ts";
import { createCommandLine } from "../../support/command-line.ts";
import {
  acknowledged,
  anOrganization,
  aSubscription,
  attemptAll,
  claimAll,
  publish,
  refused,
} from "../../support/engine.ts";
import { codeOf, countsOf, createRedeliveries, org, wh } from "../../support/redeliveries.ts";

const HOUR_MS = 3_600_000;
const jobs = await createRedeliveries();
const { clock, runAll, ask, subjectsOf, post, begin, get } = jobs;
const rules = { ...jobs.deps.rules, retryDelaysMs: [HOUR_MS, HOUR_MS] };
const deps = { ...jobs.deps, rules };
const { run, json } = createCommandLine(deps, { clock });

beforeEach(() => deps.db`delete from waiting_deliveries`);

/** A subscription whose deliveries have failed once and wait for an hour. */
async function waiting(count: number, organizationId?: string) {
  const subscription = await aSubscription(deps, organizationId);
  await publish(deps, subscription.organizationId, count);
  await attemptAll(deps, await claimAll(deps), () => refused);
  clock.advance(1_000);
  return subscription;
}

const due = async () =>
  (await deps.db`select from waiting_deliveries where due_at <= ${clock()}`).length;
const listed = async (query: string) =>
  ((await ask({ url: `deliveries?${query}` })).body as Page<DeliveryView>).items;
const bodyFor = (action: string, filter: object, more = {}) => ({
  action,
  filter: { state: "waiting", ...filter },
  ...(action === "cancel" && { reason: "superseded by a new import" }),
  ...more,
});

test("what waits of a search becomes due, at the job's rate, and each is attempted once", async () => {
  const subscription = await waiting(30);
  const other = await waiting(3);
  const filter = { subscription: wh(subscription) };
  const job = await begin(bodyFor("attempt_now", filter, { rate_per_second: 40 }));
  assert.deepEqual([job.action, job.filter.state, job.total], ["attempt_now", "waiting", 30]);
  assert.deepEqual(subjectsOf("attempt_deliveries"), [job.id]);

  await runRedelivery(deps);
  assert.equal(await due(), 10, "a quarter of a second's");
  assert.equal(await runRedelivery(deps), false);
  const bodies: string[] = [];
  for (let runs = 0; runs < 10; runs++) {
    await attemptAll(deps, await claimAll(deps), ({ eventId }) => {
      bodies.push(eventId);
      return refused;
    });
    clock.advance(250);
    await runRedelivery(deps);
  }
  assert.equal(countsOf(await get(job.id)), "finished: 30 of 30 done, 0 skipped, 0 failed");
  assert.equal(bodies.length, 30, "none is attempted twice, though each waits again");
  assert.equal(new Set(bodies).size, 30);
  const rows = await listed(`subscription=${wh(subscription)}`);
  assert.deepEqual(new Set(rows.map(({ attempts }) => attempts)), new Set([2]));
  assert.equal((await listed(`subscription=${wh(other)}`))[0]?.attempts, 1, "others wait");
});

test("deliveries that are due, in flight or finished are skipped, and those of held subscriptions fail", async () => {
  const organizationId = await anOrganization(deps);
  await waiting(2, organizationId);
  const held = await waiting(0, organizationId);
  await publish(deps, organizationId, 1); // One to each subscription, due now.
  await changeSubscription(deps, held.id, { held: true });
  const job = await begin(bodyFor("attempt_now", { organization: org({ organizationId }) }));
  await runAll();
  assert.equal(countsOf(await get(job.id)), "finished: 2 of 4 done, 1 skipped, 1 failed");
});

test("deliveries that are created after the job are none of it", async () => {
  const subscription = await waiting(2);
  const filter = { subscription: wh(subscription) };
  const job = await begin(bodyFor("cancel", filter, { rate_per_second: 4 }));
  clock.advance(1_000);
  await publish(deps, subscription.organizationId, 3);
  await runAll();
  assert.equal(countsOf(await get(job.id)), "finished: 2 of 2 done, 0 skipped, 0 failed");
  assert.equal((await listed(`subscription=${wh(subscription)}&state=waiting`)).length, 3);
});

test("what waits of a search is cancelled, and the reason stays with each delivery", async () => {
  const subscription = await waiting(5);
  const other = await waiting(2, subscription.organizationId);
  const job = await begin(bodyFor("cancel", { subscription: wh(subscription) }));
  assert.equal(job.reason, "superseded by a new import");
  assert.equal(subjectsOf("cancel_deliveries").at(-1), job.id);
  await runAll();
  assert.equal(countsOf(await get(job.id)), "finished: 7 of 7 done, 0 skipped, 0 failed");
  const rows = await listed(`subscription=${wh(subscription)}&state=cancelled`);
  assert.deepEqual(
    rows.map(({ cancel_reason }) => cancel_reason),
    Array.from({ length: 7 }, () => "superseded by a new import"),
  );
  const { id } = rows[0] ?? {};
  const shown = (await ask({ url: `deliveries/${id}` })).body as DeliveryDetail;
  assert.equal(shown.cancel_reason, "superseded by a new import");
  assert.match((await run("delivery", "show", id ?? "")).stdout, /\nbecause +superseded by a new/);
  const left = await listed(`subscription=${wh(other)}&state=waiting`);
  assert.equal(left.length, 2);
  assert.equal(left[0]?.cancel_reason, null);
});

test("an attempt in flight as its delivery is cancelled is still recorded", async () => {
  const subscription = await waiting(2);
  clock.advance(HOUR_MS);
  const claims = await claimAll(deps);
  await begin(bodyFor("cancel", { subscription: wh(subscription) }));
  await runAll();
  const [first] = claims;
  const { recorded } = await attemptAll(deps, claims, ({ eventId }) =>
    eventId.endsWith(first?.eventId ?? "-") ? acknowledged : refused,
  );
  assert.equal(recorded.length, 2);
  const states = await listed(`subscription=${wh(subscription)}`);
  assert.deepEqual(states.map(({ state }) => state).sort(), ["cancelled", "delivered"]);
  const delivered = states.find(({ state }) => state === "delivered");
  assert.equal(delivered?.cancel_reason, null, "a delivered one has no reason");
});

test("a preview counts and shows, and does nothing", async () => {
  const subscription = await waiting(12);
  for (const action of ["attempt_now", "cancel"]) {
    const preview = await post(
      bodyFor(action, { subscription: wh(subscription), reason: "http_503" }, { dry_run: true }),
    );
    assert.equal(preview.status, 200);
    const { count, estimated, sample } = preview.body as RedeliveryPreview;
    assert.deepEqual([count, estimated, sample.length], [12, false, 10]);
    const none = bodyFor(action, { subscription: wh(subscription), reason: "timeout" });
    const { body } = await post({ ...none, dry_run: true });
    assert.equal((body as RedeliveryPreview).count, 0);
  }
  assert.equal((await listed(`subscription=${wh(subscription)}&state=waiting`)).length, 12);
});

test("filters narrow what a job attempts or cancels", async () => {
  const subscription = await waiting(1);
  const [event = ""] = await publish(deps, subscription.organizationId);
  const filter = { organization: org(subscription), event: `evt_${event}` };
  const job = await begin(bodyFor("cancel", filter));
  await runAll();
  assert.equal((await get(job.id)).done, 1);
  const since = new Date(clock().getTime() + 1).toISOString();
  const later = await begin(bodyFor("cancel", { organization: org(subscription), since }));
  await runAll();
  assert.equal((await get(later.id)).done, 0);
  assert.equal((await listed(`subscription=${wh(subscription)}&state=waiting`)).length, 1);
});

test("a job that dies in its run repeats nothing and loses nothing", async () => {
  const subscription = await waiting(20);
  const job = await begin(bodyFor("cancel", { subscription: wh(subscription) }));
  const dying = { ...deps, db: Object.create(deps.db) as typeof deps.db };
  dying.db.begin = (async (work: never) =>
    deps.db.begin(async (tx) => {
      await (work as (one: typeof tx) => Promise<unknown>)(tx);
      throw new Error("the process dies before the commit");
    })) as never;
  await assert.rejects(runRedelivery(dying), /dies before/);
  assert.equal((await get(job.id)).done, 0);
  await runAll();
  assert.equal(countsOf(await get(job.id)), "finished: 20 of 20 done, 0 skipped, 0 failed");
});

test("every fault of a request is named, and nothing begins", async () => {
  const subscription = await waiting(1);
  const filter = { subscription: wh(subscription) };
  const pointersOf = async (body: object) => {
    const { status, body: problem } = await post(body);
    const { errors = [] } = problem as { errors?: { pointer: string }[] };
    return [status, ...errors.map(({ pointer }) => pointer)];
  };
  const cases: [object, string[]][] = [
    [{ action: "delete", filter }, ["/action"]],
    [{ action: "cancel", filter }, ["/reason"]],
    [{ action: "cancel", filter, reason: " " }, ["/reason"]],
    [{ action: "cancel", filter, reason: "x".repeat(201) }, ["/reason"]],
    [{ action: "cancel", filter, reason: "a\u0000b" }, ["/reason"]],
    [{ action: "attempt_now", filter, reason: "because" }, ["/reason"]],
    [{ filter, reason: "because" }, ["/reason"]],
    [{ action: "attempt_now", filter, to: wh(subscription) }, ["/to"]],
    [
      { action: "cancel", filter: { ...filter, state: "cancelled" }, reason: "x" },
      ["/filter/state"],
    ],
    [{ filter: { ...filter, state: "waiting" } }, ["/filter/state"]],
    [
      { action: "cancel", filter: { state: "delivered" }, to: "wh_x", rate_per_second: 0 },
      ["/reason", "/to", "/rate_per_second", "/filter/state", "/filter"],
    ],
  ];
  for (const [body, pointers] of cases) {
    assert.deepEqual(await pointersOf(body), [422, ...pointers], JSON.stringify(body));
  }
  const emoji = { action: "cancel", filter, reason: "🙂".repeat(200), dry_run: true };
  assert.equal((await post(emoji)).status, 200, "characters are counted, not code units");

  await changeSubscription(deps, subscription.id, { held: true });
  const held = await post({ action: "attempt_now", filter });
  assert.deepEqual([held.status, codeOf(held)], [409, "subscription_held"]);
  await deps.db`update subscriptions set auto_disabled_at = ${clock()} where id = ${subscription.id}`;
  const ended = await post({ action: "attempt_now", filter });
  assert.deepEqual([ended.status, codeOf(ended)], [409, "subscription_inactive"]);
});

test("the command line previews, attempts and cancels what waits", async () => {
  const subscription = await waiting(4);
  const which = ["--subscription", wh(subscription), "--state", "waiting"];
  for (const verb of ["attempt", "cancel"]) {
    const { stdout } = await run("delivery", verb, ...which, "--dry-run");
    assert.match(stdout, /^Deliveries that match: 4\.\nThe newest:\n\nID /);
  }
  const { stdout } = await run("delivery", "attempt", ...which);
  assert.match(stdout, /^Job rdl_\S+ is queued: 0 of 4 due, 0 skipped, 0 failed\.\n$/);
  await runAll();
  assert.equal(await due(), 4);

  const silent = await run("delivery", "cancel", ...which);
  assert.deepEqual([silent.status, silent.stdout], [1, ""]);
  assert.match(silent.stderr, /say why the deliveries are cancelled: --because <text>/);
  const { id } = await json<{ id: string }>(
    "delivery",
    "cancel",
    ...which,
    "--because",
    "too late",
  );
  await runAll();
  const shown = (await run("redelivery", "show", id)).stdout;
  assert.match(shown, /\naction +cancel\nbecause +too late\nstate +finished\n/);
  assert.match(shown, / 4 of 4 cancelled, /);
  assert.match((await run("redelivery", "list")).stdout, /\n {2}cancel: subscription wh_/);
});
