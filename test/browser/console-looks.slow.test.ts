// Depends on: docs, site, src, test/browser, CHANGELOG.md

import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { axeFindings } from "../support/axe.ts";
import { DESKTOP, PHONE, skip, type View } from "../support/browser.ts";
import {
  aBusyPartner,
  apartFromSignIn,
  aServedConsole,
  HOSTILE,
  signIn,
  visit,
} from "../support/console.ts";

const VIEWS: Record<string, View> = {
  "on a phone, dark": { ...PHONE, colorScheme: "dark" },
  "1280 wide, light": { ...DESKTOP, colorScheme: "light" },
  "1920 wide, dark": { viewport: { width: 1920, height: 1080 }, colorScheme: "dark" },
};

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

describe("the console's layout and use", { skip }, async () => {
  const served = skip === false ? await aServedConsole() : undefined;
  const open = async (t: TestContext, view: View) => {
    assert.ok(served);
    return { ...served, ...(await served.site.open(t, view)) };
  };

  test("an empty system shows the first steps", async (t) => {
    const { page, complaints } = await open(t, DESKTOP);
    await signIn(page);
    await page.getByText("Create an organization", { exact: true }).waitFor();
    for (const [place, words] of Object.entries({
      deliveries: "Nothing found",
      organizations: "No organization yet",
      subscriptions: "No subscription is found",
    })) {
      await visit(page, `#/${place}`);
      await page.getByText(words).waitFor();
      assert.deepEqual(await axeFindings(page), [], place);
    }
    assert.deepEqual(apartFromSignIn(complaints), []);
  });

  for (const [name, view] of Object.entries(VIEWS)) {
    test(`every page fits, escapes partners' text, and passes axe, ${name}`, async (t) => {
      const { page, complaints, deps, deliverDue } = await open(t, view);
      const partner = await aBusyPartner({ deps, deliverDue });
      const look = async (what: string) => {
        const excess = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
        assert.equal(excess, 0, `${what} is too wide`);
        assert.equal(await page.locator("main img").count(), 0, what);
        // A wider window than a desktop's shows axe nothing new.
        if ((view.viewport?.width ?? 0) <= 1280) {
          assert.deepEqual(await axeFindings(page), [], what);
        }
      };
      await page.goto("/console");
      await page.getByLabel("Operator token").waitFor();
      await look("the sign-in page");
      await signIn(page);
      for (const [place, shows] of Object.entries({
        overview: "Processes",
        [`deliveries?event=${partner.failedEvent}`]: "http_503",
        [`events/${partner.failedEvent}`]: "Show the payload",
        subscriptions: HOSTILE,
        [`subscriptions/${partner.subscription}`]: "Failures audit",
        organizations: partner.organization,
        [`organizations/${partner.organization}`]: HOSTILE,
        "event-types": "vc.test.ping",
      })) {
        await visit(page, `#/${place}`);
        await page.getByText(shows).filter({ visible: true }).first().waitFor();
        await look(place);
      }
      await visit(page, `#/deliveries?event=${partner.failedEvent}`);
      await page.getByRole("link", { name: /^dlv_/ }).click();
      await page.getByText("Attempt 1 failed").waitFor();
      await look("a delivery");
      await button(page, "Redeliver").click();
      await page.getByRole("dialog").getByText(HOSTILE).waitFor();
      await look("a question");
      assert.deepEqual(apartFromSignIn(complaints), []);
    });
  }

  test("everything can be reached with only the keyboard", async (t) => {
    const { page, deps, deliverDue } = await open(t, DESKTOP);
    const { failedEvent } = await aBusyPartner({ deps, deliverDue });
    const keys = page.keyboard;
    const focused = () =>
      page.evaluate<string>(
        "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent.trim()",
      );
    const tabTo = async (name: string | RegExp) => {
      for (let presses = 0; presses < 60; presses++) {
        await keys.press("Tab");
        const now = await focused();
        if (typeof name === "string" ? now === name : name.test(now)) return;
      }
      assert.fail(`${String(name)} is not reached`);
    };
    await page.goto("/console");
    await page.getByLabel("Operator token").waitFor();
    await keys.type("alice-token-of-thirty-two-letters");
    await keys.press("Enter");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await tabTo("Skip to content");
    await tabTo("Deliveries");
    await keys.press("Enter");
    await page.getByRole("heading", { name: "Deliveries" }).first().waitFor();
    await page.getByLabel("Event", { exact: true }).focus();
    await keys.type(failedEvent);
    await keys.press("Enter");
    await page.waitForURL(/event=evt_/);
    await page.locator("tbody tr").nth(1).waitFor({ state: "detached" });
    await page.getByRole("cell", { name: "http_503" }).waitFor();
    await tabTo(/^dlv_/);
    await keys.press("Enter");
    await page.getByText("Attempt 1 failed").waitFor();
    await tabTo("Redeliver");
    await keys.press("Enter");
    await page.getByRole("dialog").waitFor();
    assert.equal(await focused(), "Go back");
    await keys.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    assert.equal(await focused(), "Redeliver");
    await keys.press("/");
    assert.equal(await focused(), "Search");
  });

  test("the overview's charts mark changes by operators, but not views of a payload", async (t) => {
    const { page, ask, deps, deliverDue } = await open(t, DESKTOP);
    const { organization, failedEvent } = await aBusyPartner({ deps, deliverDue });
    await ask({ url: `events/${failedEvent}` });
    await ask({ method: "POST", url: "keys", body: { organization } });
    await signIn(page);
    const marks = page.getByLabel("Changes marked on the chart");
    await marks
      .getByText(/^\w+: create key, /)
      .first()
      .waitFor();
    assert.doesNotMatch((await marks.textContent()) ?? "", /read/);
  });

  test("nothing moves if the reader prefers no motion", async (t) => {
    const { page } = await open(t, { ...DESKTOP, reducedMotion: "reduce" });
    await signIn(page);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    const moving = `[...document.querySelectorAll("*")].filter((one) => {
      const { animationName, transitionDuration } = getComputedStyle(one);
      return animationName !== "none" || transitionDuration.split(", ").some((one) => one !== "0s");
    }).length`;
    assert.equal(await page.evaluate(moving), 0);
  });
});
