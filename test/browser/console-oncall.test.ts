import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { countRequest } from "../../src/actions/counted-activity.ts";
import { randomId, publicId } from "../../src/domain/ids.ts";
import { writeActivity } from "../../src/wiring/activity-writer.ts";
import { DESKTOP, skip } from "../support/browser.ts";
import { aServedConsole, signIn, visit } from "../support/console.ts";
import { anOrganization, aSubscription, publish, refused } from "../support/engine.ts";

const row = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });

/** What an operator asks at night, on a console whose subscriptions are disabled by five failures. */
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
    await page.getByLabel("at most 10 requests a minute passed of 600, 20 were refused").waitFor();
    const figure = (label: string) => page.locator(".figure").filter({ hasText: label });
    await figure("Busiest minute").getByText("10", { exact: true }).waitFor();
    await figure("Refused with 429").getByText("20", { exact: true }).waitFor();
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
    await deps.db`
      update waiting_deliveries set created_at = created_at + interval '1 hour' where event_id = ${event}`;
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
      await publish(deps, subscription.organization_id);
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
});
