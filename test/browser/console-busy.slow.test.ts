// Depends on: docs, site, src, test/browser, CHANGELOG.md

import assert from "node:assert/strict";
import { after, describe, test, type TestContext } from "node:test";
import type { Locator, Page } from "playwright-core";
import { axeFindings } from "../support/axe.ts";
import { DESKTOP, PHONE, skip, type View } from "../support/browser.ts";
import { aBusySystem, apartFromSignIn, aServedConsole, signIn, visit } from "../support/console.ts";
import { aGate } from "../support/database-gate.ts";
import { createDatabase } from "../support/database.ts";

const VIEWS: Record<string, View> = {
  "on a phone, light": { ...PHONE, colorScheme: "light" },
  "1280 wide, dark": { ...DESKTOP, colorScheme: "dark" },
  "2560 wide, light": { viewport: { width: 2560, height: 1440 }, colorScheme: "light" },
};

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

/** Fails if the page is wider than the window, or axe finds something. A wider window than a desktop's shows axe nothing new. */
async function look(page: Page, what: string) {
  const excess = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
  assert.equal(excess, 0, `${what} is too wide`);
  if (isWide(page)) return;
  assert.deepEqual(await axeFindings(page), [], what);
}

function isWide(page: Page): boolean {
  return (page.viewportSize()?.width ?? 0) > 1280;
}

/** The most lines that a card of the page has. */
const LINES = `Math.max(0, ...[...document.querySelectorAll(".records tbody tr")].map((row) =>
  new Set([...row.cells].map((cell) => getComputedStyle(cell)).filter(({ display }) => display !== "none")
    .map(({ gridRowStart }) => gridRowStart)).size))`;

describe("the console of a busy system", { skip }, async () => {
  const served = skip === false ? await aServedConsole({ autoDisableAfter: 5 }) : undefined;
  const busy = served && (await aBusySystem(served));
  const open = async (t: TestContext, view: View) => {
    assert.ok(served && busy);
    return { ...served, ...busy, ...(await served.site.open(t, view)) };
  };

  for (const [name, view] of Object.entries(VIEWS)) {
    test(`every page and dialog fits, and passes axe, ${name}`, async (t) => {
      const { page, complaints, organization, subscription, job } = await open(t, view);
      await signIn(page);
      await page.getByRole("heading", { name: "Overview", exact: true }).waitFor();
      const search = `state=dead_lettered&organization=${organization}`;
      for (const [place, shows] of Object.entries({
        overview: "Failing most",
        [`deliveries?${search}`]: "http_503",
        organizations: "busy-9",
        [`organizations/${organization}`]: "failing ones first",
        subscriptions: "auto-disabled",
        [`subscriptions/${subscription}`]: "Failures audit",
        redeliveries: /^(queued|running)$/,
        [`redeliveries/${job}`]: "Sent again",
        changes: "create_redelivery",
      })) {
        await visit(page, `#/${place}`);
        await page.getByText(shows).filter({ visible: true }).first().waitFor();
        await look(page, place);
        if (view.viewport?.width === 390) {
          assert.ok(
            (await page.evaluate<number>(LINES)) <= 3,
            `a card of ${place} has three lines`,
          );
        }
      }
      await visit(page, `#/deliveries?${search}`);
      await button(page, "Send again…").click();
      await page.getByText("will be sent again as new deliveries").waitFor();
      await look(page, "the dialog that sends again");
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await visit(page, `#/organizations/${organization}`);
      await button(page, "Close…").click();
      await page.getByText("This cannot be undone.").waitFor();
      await look(page, "the question before closing");
      assert.deepEqual(apartFromSignIn(complaints), []);
    });
  }

  test("each question of the night takes two clicks at most", async (t) => {
    const { page, event } = await open(t, DESKTOP);
    const row = (table: string) => page.getByRole("table", { name: table }).getByRole("row").nth(1);
    const link = (scope: Page | Locator, name: string | RegExp) =>
      scope.getByRole("link", { name }).first();
    await signIn(page);

    // Is it healthy? Who is affected? Which receivers are slow? Who comes near a limit?
    await page
      .getByLabel("State of the service")
      .getByText(/^(Healthy|Degraded|Down): /)
      .waitFor();
    await link(row("Failing most"), /^busy-\d$/).waitFor();
    await link(row("Slowest receivers"), /^receiver-\d\.busy-\d\.example$/).waitFor();
    await row("Nearest to their limit").getByText("busy-0").waitFor();

    // Since when does it fail, and which attempt disabled it?
    await link(row("Failing most"), /^receiver-0\.busy-\d\.example$/).click();
    await page.getByText(/failed attempts in a row since/).waitFor();
    await link(page, /^The last of these failures, with http_503,$/).click();
    await page.getByText("Attempt 1 failed").waitFor();

    // What did I change?
    await link(page.getByRole("navigation"), "Changes").click();
    await page.getByRole("cell", { name: "create_redelivery" }).first().waitFor();

    // What happened to this event?
    await page.keyboard.press("/");
    await page.keyboard.insertText(event);
    await page.keyboard.press("Enter");
    await link(page, /^dlv_/).click();
    await page.getByText("Attempt 1").first().waitFor();
  });

  test("a job is previewed, started, paused, resumed and cancelled", async (t) => {
    const { page, other } = await open(t, DESKTOP);
    await signIn(page, `#/deliveries?state=dead_lettered&organization=${other}`);
    await button(page, "Send again…").click();
    await page.getByRole("button", { name: /^Send \d+ deliver(y|ies) again$/ }).click();
    await page.waitForURL(/redeliveries\/rdl_/);
    for (const [press, becomes] of [
      ["Pause", "paused"],
      ["Resume", /^(queued|running)$/],
    ] as const) {
      await button(page, press).click();
      await page.locator("main .badge").getByText(becomes).first().waitFor();
    }
    await button(page, "Cancel job…").click();
    await button(page, "Cancel job").click();
    await page.locator("main .badge").getByText("cancelled").first().waitFor();
    assert.equal(await button(page, "Pause").count(), 0);
    await visit(page, "#/redeliveries");
    await page.getByRole("row").filter({ hasText: "cancelled" }).first().waitFor();
  });

  test("the list of redeliveries follows a job that is under way", async (t) => {
    const { page, ask, job, organization } = await open(t, DESKTOP);
    await signIn(page, "#/redeliveries");
    const row = page.getByRole("row").filter({ hasText: job.slice(-8) });
    await row.getByText(`org_…${organization.slice(-8)}`).waitFor();
    const states = row.locator(".badge");
    await states.getByText(/^(queued|running)$/).waitFor();
    await ask({ method: "PATCH", url: `redeliveries/${job}`, body: { state: "paused" } });
    await states.getByText("paused").waitFor();
    await ask({ method: "PATCH", url: `redeliveries/${job}`, body: { state: "running" } });
  });

  test("filters offer the names that begin with their text", async (t) => {
    const { page } = await open(t, DESKTOP);
    await signIn(page, "#/deliveries");
    for (const [label, text, offered] of [
      ["Organization", "busy-7", "busy-7"],
      ["Event", "vc.", "vc.test.ping"],
      ["Receiver's host", "receiver-3.busy-7", "receiver-3.busy-7.example"],
    ] as const) {
      const field = page.getByRole("combobox", { name: label }).or(page.getByLabel(label));
      await field.first().fill(text);
      await page.locator(`datalist option[value="${offered}"]`).waitFor({ state: "attached" });
    }
    assert.deepEqual(await axeFindings(page), []);
  });

  test("a tab that nobody sees reads nothing, and reads at once when it is seen", async (t) => {
    const { page, subscription } = await open(t, DESKTOP);
    await page.clock.install();
    const lastQuery = page.waitForResponse(/find\?q=att_/);
    await signIn(page, `#/subscriptions/${subscription}`);
    await page.getByText("Failures audit").waitFor();
    await lastQuery;
    await page.waitForLoadState("networkidle");
    const show = (hidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, "hidden", { value: ${hidden}, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"))`);
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await show(true);
    await page.clock.runFor(30_000);
    assert.deepEqual(asked, []);
    const again = page.waitForRequest(/subscriptions\/wh_/);
    await show(false);
    await again;
  });

  test("an organization is closed after confirmation", async (t) => {
    const { page, ask, closing } = await open(t, DESKTOP);
    await signIn(page, `#/organizations/${closing}`);
    await button(page, "Close…").click();
    await button(page, "Go back").click();
    assert.equal((await ask({ url: `organizations/${closing}` })).status, 200);
    await button(page, "Close…").click();
    await button(page, "Close organization").click();
    await page.locator("#notice").getByText("is closed.").waitFor();
    assert.equal((await ask({ url: `organizations/${closing}` })).status, 404);
  });
});

describe("the console without its database", { skip }, async () => {
  const gate = skip === false ? await aGate({ after }, await createDatabase()) : undefined;
  const served = gate && (await aServedConsole({}, gate.db));

  test("every page says so, fits, and continues when the database is back", async (t) => {
    assert.ok(gate && served);
    const { page } = await served.site.open(t, PHONE);
    await signIn(page);
    await page.getByText("Create an organization", { exact: true }).waitFor();
    await gate.close();
    await page.getByText("No figures while the database is unavailable").waitFor();
    await look(page, "overview");
    for (const place of [
      ...["deliveries", "organizations", "subscriptions", "redeliveries", "changes"],
      ...["event-types", "organizations/acme"],
    ]) {
      await visit(page, `#/${place}`);
      await page.getByRole("alert").first().waitFor();
      await look(page, place);
    }
    await visit(page, "#/organizations");
    await page.getByRole("alert").getByText("The console tries again by itself.").waitFor();
    await gate.open();
    await page.getByText("No organization yet").waitFor();
    await visit(page, "#/overview");
    await page.getByText("Create an organization", { exact: true }).waitFor();
  });
});
