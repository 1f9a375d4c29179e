import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { axeFindings } from "../support/axe.ts";
import { DESKTOP, PHONE, skip, type View } from "../support/browser.ts";
import { aServedConsole, HOSTILE, signIn, TOKEN } from "../support/console.ts";
import { PUBLISHER, READER } from "../support/operator-api.ts";

/** Everything in the page and everything that outlives it. */
const KEPT = `JSON.stringify([
  { ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state,
  document.documentElement.outerHTML,
])`;

/** Opens another page of the console by changing the address. Resolves when the console has reacted. */
const ELSEWHERE = `new Promise((resolve) => {
  addEventListener("hashchange", () => resolve(), { once: true });
  location.hash = "#/organizations";
})`;

const VIEWS: View[] = [
  { ...DESKTOP, colorScheme: "light" },
  { ...PHONE, colorScheme: "dark" },
];

const row = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

describe("the console in a browser", { skip }, async () => {
  const served = skip === false ? await aServedConsole() : undefined;
  const open = async (t: TestContext, view = DESKTOP) => {
    assert.ok(served);
    return { ...served, ...(await served.site.open(t, view)) };
  };

  test("a wrong token is refused, the right one accepted, and an invalidated one signed out", async (t) => {
    const { page } = await open(t);
    const refusal = page.getByRole("alert").getByText("The operator token is missing or wrong.");
    await signIn(page, "", "wrong");
    await refusal.waitFor();
    assert.ok(await page.getByRole("navigation").isHidden());
    await page.getByLabel("Operator token").fill(TOKEN);
    await button(page, "Sign in").click();
    await row(page, "dead_lettered").waitFor();

    await page.route("**/api/**", (route, request) =>
      route.continue({ headers: { ...request.headers(), authorization: "Bearer changed" } }),
    );
    await page.getByRole("link", { name: "Subscriptions" }).click();
    await refusal.waitFor();
    assert.equal(await page.getByRole("table").count(), 0, "the page is empty");
  });

  test("a token that may only read sees everything and no control that changes something", async (t) => {
    const { page, complaints, organization } = await open(t);
    await signIn(page, "", READER.token);
    await page.getByRole("link", { name: /^dlv_/ }).first().waitFor();
    for (const [place, shown, control] of [
      ["organizations", page.getByRole("link", { name: /^Keys of/ }), "Create"],
      ["organizations", page.getByRole("link", { name: /^Keys of/ }), "Set"],
      ["subscriptions", page.getByRole("cell", { name: HOSTILE }), "Delete"],
      [`keys?organization=${organization}`, page.getByRole("cell", { name: HOSTILE }), "Revoke"],
      [
        `keys?organization=${organization}`,
        page.getByRole("cell", { name: HOSTILE }),
        "Create key",
      ],
    ] as const) {
      await page.evaluate(`location.hash = "#/${place}"`);
      await shown.first().waitFor();
      assert.equal(await button(page, control).count(), 0, control);
    }
    await page.evaluate(`location.hash = "#/deliveries?state=dead_lettered"`);
    await row(page, "dead_lettered").getByRole("link", { name: /^dlv_/ }).click();
    await page.getByRole("cell", { name: "http_503" }).waitFor();
    assert.equal(await button(page, "Redeliver").count(), 0);
    assert.deepEqual(complaints, []);
  });

  test("a token that may only publish cannot sign in", async (t) => {
    const { page } = await open(t);
    await signIn(page, "", PUBLISHER.token);
    await page.getByRole("alert").getByText("the role publish").waitFor();
    assert.ok(await page.getByRole("navigation").isHidden());
  });

  test("the token is only in the header of calls", async (t) => {
    const { page } = await open(t);
    const seen: string[] = [];
    page.on("request", (request) => {
      const { authorization = "", ...others } = request.headers();
      const isCall = new URL(request.url()).pathname.startsWith("/api/v1/admin/");
      assert.equal(authorization, isCall ? `Bearer ${TOKEN}` : "");
      seen.push(JSON.stringify([request.url(), others, request.postData()]));
    });
    await signIn(page);
    await row(page, "dead_lettered").waitFor();
    seen.push(await page.evaluate<string>(KEPT));
    assert.ok(seen.length > 3);
    assert.ok(!seen.join().includes(TOKEN));
    assert.deepEqual(await page.context().cookies(), []);

    await page.reload();
    await page.getByLabel("Operator token").waitFor();
    assert.equal(await page.getByRole("table").count(), 0);
  });

  test("signing out leaves neither data nor token", async (t) => {
    const { page } = await open(t);
    await signIn(page);
    await row(page, "dead_lettered").waitFor();
    await button(page, "Sign out").click();
    await page.getByLabel("Operator token").waitFor();
    assert.doesNotMatch(await page.evaluate<string>(KEPT), /(dlv|evt)_/);
    await page.evaluate(ELSEWHERE);
    assert.ok(await page.getByRole("heading", { name: "Sign in" }).isVisible());
  });

  test("an event's deliveries are found, and a failed one is redelivered", async (t) => {
    const { page, failedEvent } = await open(t);
    await signIn(page);
    const others = row(page, "delivered").first();
    await others.waitFor();
    await page.getByLabel("Event", { exact: true }).fill(` ${failedEvent} `);
    await button(page, "Search").click();
    await others.waitFor({ state: "detached" });
    await page.getByRole("link", { name: /^dlv_/ }).click();
    await page.getByRole("cell", { name: "http_503" }).waitFor();
    const failed = page.url();
    await button(page, "Redeliver").click();
    await button(page, "Redeliver now").click();
    await page.getByText("waiting", { exact: true }).waitFor();
    assert.notEqual(page.url(), failed);
    assert.equal(await button(page, "Redeliver").count(), 0, "it is waiting");
  });

  test("a list continues page by page to its end", async (t) => {
    const { page, organization } = await open(t);
    const query = `organization=${organization}&until=2026-01-01T00:00:01Z&state=delivered`;
    await signIn(page, `#/deliveries?${query}&limit=3`);
    const links = page.getByRole("link", { name: /^dlv_/ });
    await links.nth(2).waitFor();
    assert.equal(await links.count(), 3);
    await button(page, "More").dblclick();
    await links.nth(3).waitFor();
    await button(page, "More").waitFor({ state: "hidden" });
    assert.equal(new Set(await links.allTextContents()).size, 4);
    assert.equal(await links.count(), 4);
  });

  test("a subscription is deleted after confirmation", async (t) => {
    const { page, ask, aSubscription } = await open(t);
    const id = await aSubscription();
    const isThere = async () => (await ask({ url: "subscriptions" })).text.includes(id);
    await signIn(page, "#/subscriptions");
    const remove = row(page, id).getByRole("button", { name: "Delete" });
    for (const no of ["Enter", "Escape"]) {
      await remove.click();
      await page.keyboard.press(no);
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
    assert.ok(await isThere());
    await remove.click();
    await button(page, "Delete subscription").click();
    await page.getByText(`${id} is deleted.`).waitFor();
    assert.equal(await row(page, id).count(), 0);
    assert.ok(!(await isThere()));
  });

  test("an organization is created and gets a limit", async (t) => {
    const { page, ask } = await open(t);
    await signIn(page, "#/organizations");
    await page.getByLabel("Slug (permanent)").fill("globex");
    await button(page, "Create").click();
    await page.getByLabel("Requests per minute of globex").fill("1200");
    await row(page, "globex").getByRole("button", { name: "Set" }).click();
    await page.getByText("globex may make 1200 requests per minute.").waitFor();
    const { text } = await ask({ url: "organizations" });
    assert.match(text, /"slug":"globex","rate_limit_per_minute":1200/);
  });

  test("a new item stands first and is shown once", async (t) => {
    const { page, ask } = await open(t);
    await ask({ method: "POST", url: "organizations", body: { slug: "yoyodyne" } });
    await signIn(page, "#/organizations?limit=1");
    await button(page, "More").waitFor();
    await page.getByLabel("Slug (permanent)").fill("zorg");
    await button(page, "Create").click();
    await row(page, "zorg").waitFor();
    assert.match((await page.getByRole("row").nth(1).textContent()) ?? "", /^zorg/);
    while (await button(page, "More").isVisible()) {
      const answered = page.waitForResponse(/\/organizations\?/);
      await button(page, "More").click();
      await (await answered).finished();
    }
    await row(page, "yoyodyne").waitFor();
    assert.equal(await row(page, "zorg").count(), 1);
  });

  test("a new key's token is shown once, and a revoked key is marked", async (t) => {
    const { page, ask, organization } = await open(t);
    await signIn(page, `#/keys?organization=${organization}`);
    await page.getByLabel("Label").fill("integration");
    await page.getByLabel("Additional scope").selectOption("webhooks:manage");
    await button(page, "Create key").dblclick();
    const token = await page.locator(".issued code").textContent();
    assert.match(token ?? "", /^vck_[0-9a-z]{20}\.[\w-]{43}$/);
    assert.equal(await row(page, "integration").count(), 1, "a double click creates one key");

    await page.evaluate("dispatchEvent(new Event('hashchange'))");
    await row(page, "integration").getByRole("button", { name: "Revoke" }).click();
    await button(page, "Revoke key").click();
    await row(page, "integration").getByText("revoked").waitFor();
    assert.ok(!(await page.content()).includes(token ?? ""));
    const { text } = await ask({ url: "keys?include_revoked=true" });
    assert.match(
      text,
      /"label":"integration","created_at":"[^"]+","last_used_at":null,"revoked_at":"2/,
    );
    assert.match(text, /"scopes":\["identity:read","webhooks:manage"\]/);
  });

  test("Refresh reads the page again", async (t) => {
    const { page, ask } = await open(t);
    await signIn(page, "#/organizations");
    await page.getByLabel("Slug (permanent)").waitFor();
    await ask({ method: "POST", url: "organizations", body: { slug: "initech" } });
    await button(page, "Refresh").click();
    await row(page, "initech").waitFor();
  });

  test("errors of a page that was left are not shown", async (t) => {
    const { page } = await open(t);
    await signIn(page);
    await row(page, "dead_lettered").waitFor();
    let fail = () => Promise.resolve();
    await page.route("**/organizations?*", (route) => {
      fail = () => route.abort();
    });
    await page.getByRole("link", { name: "Organizations" }).click();
    await page.getByLabel("Slug (permanent)").waitFor();
    await page.getByRole("link", { name: "Deliveries" }).click();
    await row(page, "dead_lettered").waitFor();
    const failed = page.waitForEvent("requestfailed");
    await fail();
    await failed;
    await page.evaluate("fetch('/healthz').then(() => undefined)"); // Enough time to show the error.
    assert.equal(await page.getByRole("status").textContent(), "");
    await page.evaluate(`location.hash = "#/delivery"`);
    await page.getByRole("status").getByText("There is no such delivery.").waitFor();
  });

  test("errors are shown in the service's words, or in the console's if there was no response", async (t) => {
    const { page } = await open(t);
    await signIn(page, "#/deliveries?since=yesterday&limit=0");
    const faults = /since must be a time from 1970 on.*; limit must be an integer/;
    await page.getByRole("status").getByText(faults).waitFor();
    await page.evaluate(`location.hash = "#/keys?organization=${encodeURIComponent(HOSTILE)}"`);
    await page.getByRole("heading", { name: `Keys of ${HOSTILE}` }).waitFor();
    await page.getByRole("status").getByText("There is no such organization.").waitFor();
    await page.context().setOffline(true);
    await page.getByRole("link", { name: "Subscriptions" }).click();
    await page.getByRole("status").getByText("The service is unreachable.").waitFor();
  });

  for (const view of VIEWS) {
    test(`partners' text is not markup, and axe finds nothing, ${view.viewport?.width} wide`, async (t) => {
      const { page, complaints, organization, failedEvent } = await open(t, view);
      const look = async (name: string) => {
        const excess = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
        assert.equal(excess, 0, `${name} is too wide`);
        assert.equal(await page.locator("img").count(), 0, name);
        assert.deepEqual(await axeFindings(page), [], name);
      };
      await page.goto("/console");
      await look("Sign in");
      await signIn(page);
      const visit = async (to: string, shows: string) => {
        await page.evaluate(`location.hash = ${JSON.stringify(to)}`);
        await page.getByText(shows).first().waitFor();
        await look(to);
      };
      await visit(`#/deliveries?event=${failedEvent}`, failedEvent);
      await page.getByRole("link", { name: /^dlv_/ }).last().click();
      await page.getByRole("cell", { name: "http_503" }).waitFor();
      await look("a delivery");
      await visit("#/subscriptions", HOSTILE);
      await visit("#/organizations", organization);
      await visit(`#/keys?organization=${organization}`, HOSTILE);
      await row(page, HOSTILE).getByRole("button", { name: "Revoke" }).click();
      await page.getByRole("dialog").getByText(HOSTILE).waitFor();
      await look("a question");
      assert.deepEqual(complaints, []);
    });
  }
});
