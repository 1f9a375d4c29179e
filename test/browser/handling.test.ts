import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { aServedSite, DESKTOP, PHONE, skip } from "../support/browser.ts";

/** What has the focus: its text or label, and where it leads. */
const FOCUSED = `(() => {
  const { activeElement: at } = document;
  const style = getComputedStyle(at);
  return {
    name: at.getAttribute("aria-label") ?? at.textContent.trim(),
    isScroller: at.matches("pre, .scroll"),
    isSeen: style.outlineStyle !== "none" || at.matches(".skip"),
  };
})()`;

interface Focused {
  name: string;
  isScroller: boolean;
  isSeen: boolean;
}

/** Presses Tab through the page and names what gets the focus. What scrolls by itself depends on the fonts. */
async function tabThrough(page: Page): Promise<string[]> {
  const names: string[] = [];
  for (;;) {
    await page.keyboard.press("Tab");
    const { name, isScroller, isSeen } = await page.evaluate<Focused>(FOCUSED);
    if (await page.evaluate("document.activeElement === document.body")) return names;
    assert.ok(isSeen, `${name} shows that it has the focus`);
    if (!isScroller) names.push(name);
  }
}

describe("in a browser", { skip }, async () => {
  const site = skip === false ? await aServedSite() : undefined;
  const open = async (...args: Parameters<NonNullable<typeof site>["open"]>) => {
    assert.ok(site);
    return (await site.open(...args)).page;
  };

  test("Tab goes through the page as it is read, and shows where it is", async (t) => {
    const page = await open(t, DESKTOP);
    await page.goto("/docs/events");
    assert.deepEqual(await tabThrough(page), [
      ...["Skip to content", "Partner API", "Search the documentation"],
      ...["Overview", "Quickstart", "Test on your laptop", "Going live"],
      ...["Authentication", "Subscriptions", "Deliveries and retries", "Verifying deliveries"],
      ...["API reference", "Events", "Errors", "Limits", "Changelog"],
      ...["envelope", "Copy"],
      ...["Previous API reference", "Next Errors"],
    ]);
  });

  test("the first key press leads past the navigation", async (t) => {
    const page = await open(t, DESKTOP);
    await page.goto("/docs/events");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    const { name } = await page.evaluate<Focused>(FOCUSED);
    assert.equal(name, "envelope");
  });

  test("the search finds a section by keyboard alone", async (t) => {
    const page = await open(t, DESKTOP);
    await page.goto("/docs");
    await page.keyboard.press("/");
    await page.keyboard.type("rate_limited");
    await page.locator("#results a").first().waitFor();
    assert.match((await page.locator("#found").textContent()) ?? "", /^\d found$/);
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("#results").isVisible(), false);
    await page.keyboard.type(" ");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/docs/errors#rate_limited");

    await page.locator("#search").fill("retry");
    const first = page.locator("#results strong").first();
    await first.waitFor();
    assert.equal(await first.textContent(), "Deliveries and retries", "whatever the word's ending");
  });

  test("the search says so when there is nothing, and takes what is typed for text", async (t) => {
    const page = await open(t, DESKTOP);
    await page.goto("/docs");
    await page.locator("#search").fill("<img src=x> (.*");
    await page.locator("#results p", { hasText: "Nothing found." }).waitFor();
  });

  test("the search knows statuses and the words of newcomers, and asks again for an index that it did not get", async (t) => {
    const page = await open(t, DESKTOP);
    const index = "**/search.*.json";
    await page.route(index, (route) => route.abort());
    await page.goto("/docs");
    await page.locator("#search").fill("4");
    await page.locator("#results p").waitFor();
    await page.unroute(index);
    for (const [typed, title] of [
      ["429", "rate_limited"],
      ["idempotency", "Drop duplicates"],
      ["rotation", "Change the signing secret"],
      ["unsubscribe", "Delete"],
      ["sdk", "API reference"],
    ] as const) {
      await page.locator("#search").fill(typed);
      const first = page.locator("#results strong").first();
      await first.getByText(title, { exact: true }).waitFor();
    }
  });

  test("on a phone the list of pages opens and closes", async (t) => {
    const page = await open(t, PHONE);
    await page.goto("/docs");
    const pages = page.locator("#pages");
    const button = page.getByRole("button", { name: "Menu" });
    assert.equal(await pages.isVisible(), false);
    await button.tap();
    assert.equal(await button.getAttribute("aria-expanded"), "true");
    await pages.getByRole("link", { name: "Errors" }).tap();
    await page.waitForURL("**/docs/errors");
    assert.equal(await pages.isVisible(), false);
  });

  test("a language that was chosen once is shown everywhere, and arrow keys change it", async (t) => {
    const page = await open(t, DESKTOP);
    await page.goto("/docs/verifying");
    await page.getByRole("tab", { name: "JavaScript" }).focus();
    await page.keyboard.press("ArrowRight");
    const shown = page.getByRole("tabpanel");
    assert.equal(await shown.count(), await page.getByRole("tablist").count());
    assert.match((await shown.first().textContent()) ?? "", /import hashlib/);

    const chosen = page.getByRole("tab", { selected: true });
    await page.getByRole("tab", { name: "Hono" }).click();
    assert.deepEqual(await chosen.allTextContents(), ["Python", "Hono"], "each to its own");
    await page.goto("/docs/quickstart");
    assert.deepEqual(await chosen.allTextContents(), ["Python", "Python", "Python"]);
    await page.goto("/docs/verifying");
    assert.deepEqual(await chosen.allTextContents(), ["Python", "Hono"]);
  });

  test("without script everything can be read, on a phone too", async (t) => {
    const page = await open(t, { ...PHONE, javaScriptEnabled: false });
    await page.goto("/docs/verifying");
    for (const title of ["JavaScript", "Python", "Go", "PHP", "Ruby"]) {
      assert.ok(await page.locator(".panel-title", { hasText: title }).first().isVisible(), title);
    }
    assert.ok(await page.locator("#pages").isVisible());
    assert.equal(await page.locator("#search").isVisible(), false);
  });
});
