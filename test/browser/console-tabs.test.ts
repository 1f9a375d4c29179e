import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { DESKTOP, skip } from "../support/browser.ts";
import { aServedConsole, signIn } from "../support/console.ts";

const isLive = (page: Page) =>
  page.locator(".badge").getByText("live", { exact: true }).waitFor({ timeout: 30_000 });

describe("the console in several tabs", { skip }, async () => {
  const served = skip === false ? await aServedConsole() : undefined;

  test("seven tabs share one stream, all are live, and the seventh can send requests", async (t) => {
    assert.ok(served);
    const { page } = await served.site.open(t, DESKTOP);
    const streams = new Set<object>();
    const forget = (request: object) => streams.delete(request);
    page.context().on("request", (request) => {
      if (request.url().endsWith("/overview/live")) streams.add(request);
    });
    page.context().on("requestfinished", forget).on("requestfailed", forget);
    await signIn(page);
    await isLive(page);
    const tabs = [page];
    for (let tab = 2; tab <= 7; tab++) {
      const next = await page.context().newPage();
      await next.goto("/console/#/overview");
      await isLive(next);
      tabs.push(next);
    }
    const [first] = streams;
    assert.equal(streams.size, 1);
    await tabs[6]?.goto("/console/#/organizations");
    const heading = { name: "Organizations", exact: true };
    await tabs[6]?.getByRole("heading", heading).waitFor({ timeout: 10_000 });

    // Another tab takes over.
    const taken = page.context().waitForEvent("request", {
      predicate: (request) => request.url().endsWith("/overview/live"),
      timeout: 10_000,
    });
    await page.close();
    assert.notEqual(await taken, first);
    for (const tab of tabs.slice(1, 6)) await isLive(tab);
  });
});
