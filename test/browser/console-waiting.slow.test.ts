// Depends on: docs, site, src, test/browser, CHANGELOG.md
import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { runRedelivery } from "../../src/jobs/redelivery.ts";
import { publicId } from "../../src/lib/ids.ts";
import type { DeliveryView } from "../../src/subjects/deliveries/work.ts";
import { DESKTOP, skip } from "../support/browser.ts";
import { aServedConsole, signIn, visit } from "../support/console.ts";
import { attemptAll, claimAll, aSubscription, publish, refused } from "../support/engine.ts";

const button = (page: Page, name: string | RegExp) =>
  page.getByRole("button", { name, exact: true });
const inDialog = (page: Page, name: string | RegExp) =>
  page.getByRole("dialog").getByRole("button", { name, exact: true });
const notice = (page: Page) => page.locator("#notice");
const row = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });

describe("acting on what waits in the console", { skip }, async () => {
  const served = skip === false ? await aServedConsole({ retryDelaysMs: [3_600_000] }) : undefined;
  const open = async (t: TestContext) => {
    assert.ok(served);
    const { deps, ask, site } = served;
    const { id, organizationId } = await aSubscription(deps);
    await publish(deps, organizationId, 3);
    await attemptAll(deps, await claimAll(deps), () => refused);
    const subscription = publicId("wh", id);
    const listed = async () => {
      const { body } = await ask({ url: `deliveries?subscription=${subscription}` });
      return (body as { items: DeliveryView[] }).items;
    };
    return { ...(await site.open(t, DESKTOP)), deps, ask, subscription, listed };
  };

  test("a subscription is held, is shown so on every page, and is released", async (t) => {
    const { page, subscription, listed } = await open(t);
    await signIn(page, `#/subscriptions/${subscription}`);
    await button(page, "Hold…").click();
    await inDialog(page, "Hold").click();
    await notice(page).getByText("The subscription is held.").waitFor();
    await page.getByText("Release by", { exact: true }).waitFor();
    await page.getByText("until the release").waitFor();

    await visit(page, "#/subscriptions");
    await row(page, "held").first().waitFor();
    await visit(page, `#/deliveries?subscription=${subscription}`);
    await row(page, "held").first().waitFor();
    const [delivery] = await listed();
    await visit(page, `#/deliveries/${delivery?.id}`);
    await page.getByText("Release the subscription first.").waitFor();
    await visit(page, "#/");
    const held = page.getByRole("table", { name: "Held" });
    await held.getByRole("link", { name: "receiver.example" }).click();

    await button(page, "Release…").click();
    await page.getByLabel("Attempts a second, its ceiling").fill("7");
    await inDialog(page, "Release").click();
    await notice(page).getByText("The subscription is released.").waitFor();
    await button(page, "Hold…").waitFor();
    await page.getByText("at most 7 attempts a second").waitFor();
  });

  test("a waiting delivery is attempted now, and so are those that are chosen", async (t) => {
    const { page, subscription, listed } = await open(t);
    const due = async () =>
      (await listed()).filter(({ due_at: at }) => Date.parse(at ?? "") <= Date.now()).length;
    const [delivery] = await listed();
    await signIn(page, `#/deliveries/${delivery?.id}`);
    await button(page, "Attempt now").click();
    await inDialog(page, "Attempt now").click();
    await notice(page).getByText("The delivery is due now.").waitFor();
    assert.equal(await due(), 1);

    await visit(page, `#/deliveries?subscription=${subscription}`);
    const boxes = page.getByRole("checkbox");
    await boxes.nth(1).check();
    await boxes.nth(2).check();
    await button(page, "Attempt 2 deliveries now").click();
    await inDialog(page, "Attempt 2 deliveries now").click();
    await notice(page).getByText("Done: 2 deliveries.").waitFor();
    assert.equal(await due(), 3);
  });

  test("what waits of a search is counted, and cancelled with a preview and a reason", async (t) => {
    const { page, deps, subscription, listed } = await open(t);
    await signIn(page, `#/deliveries?subscription=${subscription}&state=waiting`);
    const counts = page.getByRole("status", { name: "Counts" });
    await counts.getByText("3 waiting").waitFor();
    await counts.getByText("0 cancelled").waitFor();
    await button(page, "Cancel waiting…").click();
    const yes = inDialog(page, "Cancel 3 deliveries");
    await yes.waitFor();
    assert.ok(await yes.isDisabled(), "without a reason nothing is cancelled");
    await page.getByLabel("Reason, which stays with each delivery").fill("superseded");
    await yes.click();
    await page.getByText("superseded").waitFor();
    while (await runRedelivery(deps));
    await page.getByText("finished").first().waitFor();
    const all = await listed();
    assert.deepEqual(
      all.map(({ state, cancel_reason: reason }) => [state, reason]),
      Array.from({ length: 3 }, () => ["cancelled", "superseded"]),
    );
    await visit(page, `#/deliveries/${all[0]?.id}`);
    await page.getByText("Cancelled because").waitFor();
  });

  test("all that waits of a subscription is attempted now", async (t) => {
    const { page, deps, subscription } = await open(t);
    await signIn(page, `#/subscriptions/${subscription}`);
    await button(page, "Attempt now…").click();
    await inDialog(page, "Attempt 3 deliveries").click();
    await page.getByText("Made due").waitFor();
    while (await runRedelivery(deps));
    assert.equal((await claimAll(deps)).length, 3);
  });

  test("a search that stopped before its end never says that there is nothing", async (t) => {
    const { page } = await open(t);
    await signIn(page, "");
    const early = { items: [], next_cursor: "more", searched_until: "2026-01-31T00:00:00.000Z" };
    await page.route(/admin\/deliveries\?(?!.*count)/, (route) =>
      route.fulfill({
        json: route.request().url().includes("cursor=")
          ? { items: [], next_cursor: null, searched_until: null }
          : early,
      }),
    );
    await visit(page, "#/deliveries?reason=http_503");
    await page.getByText("None found so far").waitFor();
    assert.equal(await page.getByText("Nothing found").count(), 0);
    await button(page, "Search on").click();
    await page.getByText("Nothing found").waitFor();
  });
});
