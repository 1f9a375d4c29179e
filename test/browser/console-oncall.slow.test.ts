// Depends on: docs, site, src, test/browser, CHANGELOG.md
import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { writeActivity } from "../../src/jobs/activity.ts";
import { after } from "../../src/lib/clock.ts";
import { publicId, randomId } from "../../src/lib/ids.ts";
import { countRequest } from "../../src/subjects/activity/counted.ts";
import { recordProcess } from "../../src/subjects/processes/sql.ts";
import { DESKTOP, skip } from "../support/browser.ts";
import { aServedConsole, signIn, visit } from "../support/console.ts";
import { identity, REPORT } from "../support/counted-engine.ts";
import {
  acknowledged,
  anOrganization,
  aSubscription,
  publish,
  refused,
} from "../support/engine.ts";

const row = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });

/** An operator's questions at night, on a console whose subscriptions are disabled by five failures. */
describe("the console on call", { skip }, async () => {
  const served =
    skip === false ? await aServedConsole({ autoDisableAfter: 5, retryDelaysMs: [] }) : undefined;
  const open = async (t: TestContext) => {
    assert.ok(served);
    return { ...served, ...(await served.site.open(t, DESKTOP)) };
  };

  test("refused requests are not counted as passed", async (t) => {
    const { page, deps } = await open(t);
    const organization = await anOrganization(deps);
    const allowance = { limit: 600, remaining: 0, resetSeconds: 1 };
    for (let i = 0; i < 30; i++) {
      countRequest(deps.activity, organization, { ...allowance, passed: i < 10 });
    }
    await writeActivity(deps.db, deps.activity, randomId());
    await signIn(page, `#/organizations/${publicId("org", organization)}`);
    await page
      .getByLabel(
        "10 requests passed in the busiest minute (limit 600); at most 20 were refused in one minute",
      )
      .waitFor();
    const figures = page.getByRole("definition");
    await figures.filter({ hasText: /^10of 600$/ }).waitFor();
    await figures.filter({ hasText: /^20$/ }).waitFor();
  });

  test("an event without subscribers is shown, and an unknown one is said to be unknown", async (t) => {
    const { page, deps } = await open(t);
    const organization = await anOrganization(deps);
    const [event = ""] = await publish(deps, organization);
    await signIn(page, `#/events/${publicId("evt", event)}`);
    const facts = page.locator("main");
    await facts.getByRole("link", { name: "vc.test.ping", exact: true }).waitFor();
    await facts.getByText(/^No active subscription of org-\d+ listed vc\.test\.ping/).waitFor();
    await facts.getByText("Published", { exact: true }).waitFor();
    await visit(page, `#/events/${publicId("evt", randomId())}`);
    await page.getByRole("alert").getByText("There is no such event.").waitFor();
    assert.equal(await page.getByText("No active subscription").count(), 0);
  });

  test("an event is published when it was published, with any number of deliveries", async (t) => {
    const { page, deps } = await open(t);
    const organization = await anOrganization(deps);
    for (let i = 0; i < 51; i++) await aSubscription(deps, organization);
    const [event = ""] = await publish(deps, organization);
    const [{ at } = { at: new Date(0) }] = await deps.db<
      { at: Date }[]
    >`select moment_of(${event}::uuid) as at`;
    await signIn(page, `#/events/${publicId("evt", event)}`);
    await page.getByRole("button", { name: "More" }).waitFor();
    await page.locator(`main dd time[datetime="${at.toISOString()}"]`).first().waitFor();
    await deps.db`delete from waiting_deliveries where event_id = ${event}`;
  });

  test("an organization's failing subscriptions come first, however old they are", async (t) => {
    const { page, deps } = await open(t);
    const organization = await anOrganization(deps);
    const oldest = await aSubscription(deps, organization, "https://oldest.example/hooks");
    for (let i = 0; i < 100; i++) await aSubscription(deps, organization);
    await deps.db`update subscriptions set consecutive_failures = 3 where id = ${oldest.id}`;
    await signIn(page, `#/organizations/${publicId("org", organization)}`);
    await page.getByText("20 of 101, failing ones first").waitFor();
    await row(page, "oldest.example").getByText("3 of 5").waitFor();
    await page.getByRole("link", { name: "All 101 subscriptions" }).click();
    await page.waitForURL(/order=failing/);
    await row(page, "oldest.example").waitFor();
    assert.match((await page.getByRole("row").nth(1).textContent()) ?? "", /oldest\.example/);
  });

  test("the streak counts towards AUTO_DISABLE_AFTER, without interrupted attempts", async (t) => {
    const { page, deps, deliverDue } = await open(t);
    const subscription = await aSubscription(deps);
    const one = async (outcome: typeof refused) => {
      await publish(deps, subscription.organizationId);
      await deliverDue(() => outcome);
    };
    await one(refused);
    await one({ kind: "unreachable", reason: "interrupted" });
    await one(refused);
    const [{ at } = { at: new Date(0) }] = await deps.db<{ at: Date }[]>`
      select min(attempted_at) as at from attempts where subscription_id = ${subscription.id}`;
    await signIn(page, `#/subscriptions/${publicId("wh", subscription.id)}`);
    await page.getByRole("img", { name: "2 of 5 failed attempts in a row" }).waitFor();
    const sentence = page.getByRole("paragraph").filter({ hasText: "failed attempts in a row" });
    await sentence.locator(`time[datetime="${at.toISOString()}"]`).waitFor();
  });

  test("the charts mark a start, a stop, a release and a disabling", async (t) => {
    const { page, deps } = await open(t);
    const hosts = [
      ["first", "1.0.0"],
      ["second", "1.1.0"],
    ] as const;
    for (const [minute, [host, version]] of hosts.entries()) {
      const started = after(deps.clock(), (minute - 3) * 60_000);
      const process = { ...identity, id: randomId(), host, version, startedAt: started };
      await recordProcess(deps.db, process, REPORT, started);
    }
    const subscription = await aSubscription(deps, undefined, "https://broken.example/hooks");
    await deps.db`update subscriptions set auto_disabled_at = ${deps.clock()} where id = ${subscription.id}`;
    await signIn(page);
    const marks = page.getByLabel("Changes marked on the chart");
    for (const words of [
      "first 1 started",
      "first 1 stopped",
      "release 1.1.0 started on second",
      "broken.example was auto-disabled",
    ]) {
      await marks.getByText(words).waitFor();
    }
  });

  test("a delivery shows all its redeliveries and their results", async (t) => {
    const { page, ask, deps, deliverDue } = await open(t);
    const subscription = await aSubscription(deps);
    await publish(deps, subscription.organizationId);
    await deliverDue(() => refused);
    const { body } = await ask({
      url: `deliveries?subscription=${publicId("wh", subscription.id)}`,
    });
    const id = (body as { items: { id: string }[] }).items[0]?.id ?? "";
    await ask({ method: "POST", url: `deliveries/${id}/redeliver`, body: {} });
    await deliverDue(() => refused);
    await ask({ method: "POST", url: `deliveries/${id}/redeliver`, body: {} });
    await deliverDue(() => acknowledged);
    await signIn(page, `#/deliveries/${id}`);
    const again = page.getByRole("listitem").filter({ hasText: "Sent again" });
    await again.nth(1).waitFor();
    assert.match((await again.nth(0).textContent()) ?? "", /dead_lettered.*http_503/);
    assert.match((await again.nth(1).textContent()) ?? "", /delivered/);
  });

  test("changes are filtered by operator, action, subject and span", async (t) => {
    const { page, ask, deps } = await open(t);
    const organization = publicId("org", await anOrganization(deps));
    await ask({ method: "POST", url: "keys", body: { organization } });
    const body = { rate_limit_per_minute: 5 };
    await ask({ method: "PATCH", url: `organizations/${organization}`, body });
    await signIn(page, "#/changes");
    await row(page, "create_key").first().waitFor();
    await page.getByRole("textbox", { name: "Subject" }).fill(organization);
    await page.getByLabel("Changed").selectOption("last hour");
    await page.waitForURL(/span=1h/);
    await row(page, organization.slice(-8)).first().waitFor();
    await row(page, "create_key").first().waitFor({ state: "detached" });
    await page.getByRole("textbox", { name: "Operator" }).fill("bob");
    await page.getByRole("button", { name: "Search" }).last().click();
    await page.getByText("No change matches these filters").waitFor();
  });

  test("a search by host says why it cannot be sent again", async (t) => {
    const { page, deps } = await open(t);
    const organization = publicId("org", await anOrganization(deps));
    const search = `organization=${organization}&state=dead_lettered`;
    await signIn(page, `#/deliveries?${search}`);
    await page.getByRole("button", { name: "Send again…" }).waitFor();
    await visit(page, `#/deliveries?${search}&host=receiver.example`);
    await page.getByText("A job has no filter for hosts").waitFor();
    assert.equal(await page.getByRole("button", { name: "Send again…" }).count(), 0);
  });

  test("a concurrency limit is a number, lowered or not", async (t) => {
    const { page, deps } = await open(t);
    const [slow, quick] = [await aSubscription(deps), await aSubscription(deps)];
    const process = { ...identity, id: randomId(), host: "slowing", startedAt: deps.clock() };
    const report = { ...REPORT, slowed: [{ id: slow.id, limit: 3 }] };
    await recordProcess(deps.db, process, report, deps.clock());
    await signIn(page, `#/subscriptions/${publicId("wh", slow.id)}`);
    await page.getByText("slowing 1: 3 at once, lowered because attempts got no answer").waitFor();
    await visit(page, `#/subscriptions/${publicId("wh", quick.id)}`);
    await page.getByText("slowing 1: 16 at once").waitFor();
  });
});
