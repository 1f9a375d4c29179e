// Depends on: docs, site, src, test/browser, CHANGELOG.md
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { aServedSite, DESKTOP, PHONE, skip } from "../support/browser.ts";

/** The focused element: its text or label, and whether the focus is visible. */
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

/**
 * Presses Tab through the page and returns the names of focused elements. Skips scrolling boxes,
 * which depend on fonts.
 */
async function tabThrough(page: Page): Promise<string[]> {
  const names: string[] = [];
  for (;;) {
    await page.keyboard.press("Tab");
    const { name, isScroller, isSeen } = await page.evaluate<Focused>(FOCUSED);
    if (await page.evaluate("document.activeElement === document.body")) return names;
    assert.ok(isSeen, `${name} shows its focus`);
    if (!isScroller) names.push(name);
  }
}

describe("in a browser", { skip }, async () => {
  const site = skip === false ? await aServedSite() : undefined;
  const open = async (...args: Parameters<NonNullable<typeof site>["open"]>) => {
    assert.ok(site);
    return (await site.open(...args)).page;
  };

  test("Tab follows the reading order, and the focus is visible", async (t) => {
    const page = await open(t, DESKTOP);
    await page.goto("/docs/events");
    assert.deepEqual(await tabThrough(page), [
      ...["Skip to content", "Partner API", "Search the documentation"],
      "Appearance: system",
      ...["Overview", "Quickstart", "Test on your laptop", "Going live"],
      ...["Authentication", "Subscriptions", "Deliveries and retries", "Verifying deliveries"],
      "Troubleshooting",
      ...["API reference", "Events", "Errors", "Limits", "Versions", "Changelog"],
      ...["envelope", "Copy"],
      ...["Previous API reference", "Next Errors", "This page as Markdown"],
    ]);
  });

  test("the first Tab offers to skip the navigation", async (t) => {
    const page = await open(t, DESKTOP);
    await page.goto("/docs/events");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    const { name } = await page.evaluate<Focused>(FOCUSED);
    assert.equal(name, "envelope");
  });

  test("the search works with only the keyboard", async (t) => {
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
    assert.equal(
      await first.textContent(),
      "Deliveries and retries",
      "with any ending of the word",
    );
  });

  test("the search reports no results, and treats its input as text", async (t) => {
    const page = await open(t, DESKTOP);
    await page.goto("/docs");
    await page.locator("#search").fill("<img src=x> (.*");
    await page.locator("#results p", { hasText: "Nothing found." }).waitFor();
  });

  test("the search finds statuses and common synonyms, and fetches a failed index again", async (t) => {
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
      ["rotation", "Rotate the signing secret"],
      ["unsubscribe", "Delete"],
      ["sdk", "API reference"],
      ["resend", "Send deliveries again"],
      ["410", "What counts as success"],
    ] as const) {
      await page.locator("#search").fill(typed);
      const first = page.locator("#results strong").first();
      await first.getByText(title, { exact: true }).waitFor();
    }
  });

  test("the chosen appearance stays on the next page", async (t) => {
    const page = await open(t, { ...DESKTOP, colorScheme: "light" });
    const paper = () => page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
    await page.goto("/docs");
    const light = await paper();
    const button = page.locator(".appearance");
    await button.click();
    assert.equal(await button.textContent(), "Light");
    await button.click();
    const dark = await paper();
    assert.notEqual(dark, light);
    await page.goto("/docs/errors");
    assert.equal(await paper(), dark);
    await button.click();
    assert.deepEqual([await button.textContent(), await paper()], ["System", light]);
  });

  test("the search finds no matches inside words", async (t) => {
    const page = await open(t, DESKTOP);
    await page.goto("/docs");
    await page.locator("#search").fill("ubscription");
    await page.locator("#results p", { hasText: "Nothing found." }).waitFor();
  });

  test("on a phone, the list of pages opens and closes", async (t) => {
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

  test("a chosen language is used everywhere, and arrow keys change it", async (t) => {
    const page = await open(t, DESKTOP);
    await page.goto("/docs/verifying");
    await page.getByRole("tab", { name: "JavaScript" }).first().focus();
    await page.keyboard.press("ArrowRight");
    const shown = page.getByRole("tabpanel");
    assert.equal(await shown.count(), await page.getByRole("tablist").count());
    assert.match(
      (await shown.nth(1).textContent()) ?? "",
      /from partner_api_webhook import verify/,
    );

    const chosen = page.getByRole("tab", { selected: true });
    await page.getByRole("tab", { name: "Hono" }).click();
    assert.deepEqual(
      await chosen.allTextContents(),
      ["Python", "Python", "Python", "Hono"],
      "one choice for each kind of tabs",
    );
    await page.goto("/docs/quickstart");
    assert.deepEqual(await chosen.allTextContents(), ["Python", "Python", "Python", "Python"]);
    await page.goto("/docs/verifying");
    assert.deepEqual(await chosen.allTextContents(), ["Python", "Python", "Python", "Hono"]);
  });

  test("everything is readable without scripts, also on a phone", async (t) => {
    const page = await open(t, { ...PHONE, javaScriptEnabled: false });
    await page.goto("/docs/verifying");
    for (const title of ["JavaScript", "Python", "Go", "PHP", "Ruby"]) {
      assert.ok(await page.locator(".panel-title", { hasText: title }).first().isVisible(), title);
    }
    assert.ok(await page.locator("#pages").isVisible());
    assert.equal(await page.locator("#search").isVisible(), false);
  });
});
