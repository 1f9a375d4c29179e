import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { publicId } from "../../src/lib/ids.ts";
import { DESKTOP, PHONE, skip, type View } from "../support/browser.ts";
import { aBusyPartner, aServedConsole, HOSTILE, signIn, TOKEN, visit } from "../support/console.ts";
import { PUBLISHER, READER } from "../support/operator-api.ts";

/** The page and everything of it that a script could read, also later. */
const KEPT = `JSON.stringify([
  { ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state,
  document.documentElement.outerHTML,
])`;

const row = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const heading = (page: Page, name: string) => page.getByRole("heading", { name, exact: true });
const notice = (page: Page) => page.locator("#notice");

describe("the console in a browser", { skip }, async () => {
  const served = skip === false ? await aServedConsole() : undefined;
  const partner = served && (await aBusyPartner(served));
  const open = async (t: TestContext, view: View = DESKTOP) => {
    assert.ok(served && partner);
    return { ...served, ...partner, ...(await served.site.open(t, view)) };
  };

  test("a wrong token is refused, the right one is accepted, and a lost session is signed out", async (t) => {
    const { page } = await open(t);
    const refusal = page.getByRole("alert").getByText("The operator token is missing or wrong.");
    await signIn(page, "", "wrong");
    await refusal.waitFor();
    assert.equal(await page.getByRole("navigation").count(), 0);
    await page.getByLabel("Operator token").fill(TOKEN);
    await button(page, "Sign in").click();
    await heading(page, "Overview").waitFor();

    await page.context().clearCookies();
    await visit(page, "#/subscriptions");
    await refusal.waitFor();
    assert.equal(await page.getByRole("table").count(), 0, "the page is empty");
  });

  test("the reason why a bridge does not publish is shown whole, also on a phone", async (t) => {
    const { page, ask } = await open(t, PHONE);
    const problem = `the table \`outbox\` has no column "set_aside": see \`columns\`, at ${"db-1.internal.".repeat(6)}`;
    const source = { name: "orders-of-the-whole-shop", kind: "outbox", problem, set_aside: 0 };
    const said = { version: "1.2.3", host: "bridge-1", pid: 7 };
    const counts = { lag_messages: 1_234_567, lag_bytes: null, published: 9 };
    const url = `bridges/${publicId("brg", randomUUID())}`;
    const body = { ...said, sources: [{ ...source, ...counts }] };
    await ask({ method: "PUT", url, body });
    await signIn(page, "#/overview");
    const reason = page.getByText(problem);
    await reason.waitFor();
    const box = (of: string) => page.evaluate<number>(`document.querySelector(".whole")${of}`);
    assert.ok((await box(".getBoundingClientRect().right")) <= 390);
    const excess =
      ".closest('td').scrollWidth - document.querySelector('.whole').closest('td').clientWidth";
    assert.ok((await box(excess)) <= 0);
    await ask({ method: "DELETE", url });
  });

  test("a reload and a further tab stay signed in, and signing out ends both", async (t) => {
    const { page } = await open(t);
    await signIn(page, "#/deliveries");
    await row(page, "dead_lettered").first().waitFor();
    await page.reload();
    await row(page, "dead_lettered").first().waitFor();

    const second = await page.context().newPage();
    await second.goto("/console#/deliveries");
    await row(second, "dead_lettered").first().waitFor();
    await button(second, "Sign out").click();
    await page.getByLabel("Operator token").waitFor();
    assert.doesNotMatch(await page.evaluate<string>(KEPT), /(dlv|evt)_[0-9a-f]/);
    assert.deepEqual(await page.context().cookies(), []);
    await visit(page, "#/organizations");
    await page.reload();
    await heading(page, "Sign in").waitFor();
  });

  test("the token is sent once, and no script can read it or its session", async (t) => {
    const { page } = await open(t);
    const seen: string[] = [];
    page.on("request", (request) => {
      const signsIn = request.method() === "POST" && request.url().endsWith("/session");
      const sent = JSON.stringify([request.url(), request.headers(), request.postData()]);
      if (signsIn) assert.ok(sent.includes(TOKEN));
      else seen.push(sent);
    });
    await signIn(page, "#/deliveries");
    await row(page, "dead_lettered").first().waitFor();
    seen.push(await page.evaluate<string>(KEPT));
    assert.ok(seen.length > 3);
    assert.ok(!seen.join().includes(TOKEN));
    const [cookie] = await page.context().cookies();
    assert.deepEqual([cookie?.httpOnly, cookie?.sameSite], [true, "Strict"]);
    assert.ok(!(await page.evaluate<string>(KEPT)).includes(cookie?.value ?? ""));
  });

  test("a read-only token sees everything and no controls for changes", async (t) => {
    const { page, organization, subscription, failedEvent } = await open(t);
    await signIn(page, "", READER.token);
    await page.getByText("read only").waitFor();
    const failed = async () => {
      await row(page, "dead_lettered").getByRole("link", { name: /^dlv_/ }).first().click();
      await page.getByText("Attempt 1 failed").waitFor();
    };
    for (const [place, shown, controls] of [
      ["organizations", heading(page, "Organizations"), ["Create"]],
      [
        `organizations/${organization}`,
        row(page, HOSTILE),
        ["Set limit", "Create key", "Revoke", "Close…", "Send again…"],
      ],
      [`subscriptions/${subscription}`, row(page, "http_503"), ["Delete…", "Set ceiling"]],
      [`events/${failedEvent}`, row(page, "dead_lettered"), ["Erase payload…"]],
      [
        `deliveries?state=dead_lettered&organization=${organization}`,
        row(page, "dead_lettered"),
        ["Send again…"],
      ],
    ] as const) {
      await visit(page, `#/${place}`);
      await shown.first().waitFor();
      for (const control of controls) {
        assert.equal(await button(page, control).count(), 0, `${place}: ${control}`);
      }
    }
    await failed();
    assert.equal(await button(page, "Redeliver").count(), 0);
  });

  test("a token that may only publish cannot sign in", async (t) => {
    const { page } = await open(t);
    await signIn(page, "", PUBLISHER.token);
    await page.getByRole("alert").getByText("the role publish").waitFor();
    assert.equal(await page.getByRole("navigation").count(), 0);
  });

  test("an event's failed delivery is found and sent again", async (t) => {
    const { page, failedEvent } = await open(t);
    await signIn(page, "#/deliveries");
    await page.getByLabel("Event", { exact: true }).fill(` ${failedEvent} `);
    await button(page, "Search").click();
    await row(page, "delivered").first().waitFor({ state: "detached" });
    await page.getByRole("link", { name: /^dlv_/ }).click();
    await page.getByText("http_503").first().waitFor();
    const failed = page.url();
    await button(page, "Redeliver").click();
    await button(page, "Redeliver now").click();
    await page.getByText("Waiting", { exact: true }).waitFor();
    assert.notEqual(page.url(), failed);
    assert.equal(await button(page, "Redeliver").count(), 0, "it is waiting");
  });

  test("filters are in the address, with readable spans", async (t) => {
    const { page } = await open(t);
    await signIn(page, "#/deliveries");
    await page.getByLabel("State").selectOption("dead_lettered");
    await page.waitForURL(/state=dead_lettered/);
    await page.getByLabel("Created").selectOption("last hour");
    await page.waitForURL(/span=1h/);
    await row(page, "dead_lettered").first().waitFor();
    assert.equal(await row(page, "delivered").count(), 0);
    await page.getByLabel("Created").selectOption("from … until …");
    await page.getByLabel("From", { exact: true }).fill("2026-01-31T10:00");
    await page.getByLabel("From", { exact: true }).blur();
    await page.getByText(/2026-01-3\d \d\d:\d\d:00 UTC/).waitFor();
    await button(page, "Search").click();
    await page.waitForURL(/since=2026-01-3/);
  });

  test("a list continues page by page to its end", async (t) => {
    const { page, organization } = await open(t);
    const query = `organization=${organization}&state=delivered`;
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
    await signIn(page, `#/subscriptions/${id}`);
    for (const no of ["Enter", "Escape"]) {
      await button(page, "Delete…").click();
      await page.getByText("This cannot be undone.").waitFor();
      await page.keyboard.press(no);
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
    assert.ok(await isThere());
    await button(page, "Delete…").click();
    await button(page, "Delete subscription").click();
    await notice(page).getByText(`${id} is deleted.`).waitFor();
    assert.ok(!(await isThere()));
  });

  test("an organization is created and gets a limit after confirmation", async (t) => {
    const { page, ask } = await open(t);
    await signIn(page, "#/organizations");
    await page.getByLabel("Slug (permanent)").fill("globex");
    await button(page, "Create").click();
    await page.getByLabel("Requests a minute of globex").fill("1200");
    await button(page, "Set limit").click();
    await page.getByText("1,200 requests a minute. Before, it was 600").waitFor();
    await button(page, "Change limit").click();
    await notice(page).getByText("globex may make 1,200 requests a minute.").waitFor();
    const { text } = await ask({ url: "organizations" });
    assert.match(text, /"slug":"globex","rate_limit_per_minute":1200/);
  });

  test("a ceiling is set and removed after confirmation", async (t) => {
    const { page, ask, subscription } = await open(t);
    const ceiling = async () => {
      const { body } = await ask({ url: `subscriptions/${subscription}` });
      return (body as { max_per_second: number | null }).max_per_second;
    };
    await signIn(page, `#/subscriptions/${subscription}`);
    await page.getByLabel("Attempts a second").fill("25");
    await button(page, "Set ceiling").click();
    await page.getByRole("dialog").getByText("at most 25 attempts a second").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Set ceiling" }).click();
    await notice(page).getByText("The ceiling is 25 a second.").waitFor();
    assert.equal(await ceiling(), 25);
    await page.getByText("at most 25 attempts a second").waitFor(); // The page shows the stored value.
    await page.getByLabel("Attempts a second").fill("");
    await button(page, "Set ceiling").click();
    await button(page, "Remove ceiling").click();
    await notice(page).getByText("The ceiling is removed.").waitFor();
    assert.equal(await ceiling(), null);
  });

  test("a change shows who made it, how and from where, and a key links to its organization", async (t) => {
    const { page, ask, organization } = await open(t);
    const { body } = await ask({ method: "POST", url: "keys", body: { organization } });
    const { key_id: keyId } = body as { key_id: string };
    await signIn(page, "#/changes");
    const row = page.getByRole("row").filter({ hasText: keyId });
    for (const text of ["create_key", "HTTP", "127.0.0.1"]) {
      await row.getByRole("cell", { name: text, exact: true }).waitFor();
    }
    await page.keyboard.press("/");
    await page.keyboard.type("vc");
    await page.getByRole("option").first().waitFor(); // The event type vc.test.ping.
    await page.keyboard.insertText(`k_${keyId}`);
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/console#/organizations/*`);
    await page.getByRole("heading", { name: "Keys" }).waitFor();
  });

  test("a new key's token is shown once, and a revoked key is marked", async (t) => {
    const { page, ask, organization } = await open(t);
    await signIn(page, `#/organizations/${organization}`);
    await page.getByLabel("Label").fill("integration");
    await page.getByLabel("Additional scope").selectOption("webhooks:manage");
    await button(page, "Create key").dblclick();
    const token = await page.locator(".issued code").textContent();
    assert.match(token ?? "", /^vck_[0-9a-z]{20}\.[\w-]{43}$/);
    await row(page, "integration").waitFor();
    assert.equal(await row(page, "integration").count(), 1, "a double click creates one key");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await button(page, "Copy token").click();
    await button(page, "Copied").waitFor();
    assert.equal(await page.evaluate("navigator.clipboard.readText()"), token);
    await button(page, "Hide the token").click();
    assert.ok(!(await page.content()).includes(token ?? ""));

    await row(page, "integration").getByRole("button", { name: "Revoke" }).click();
    await button(page, "Revoke key").click();
    await row(page, "integration").getByText("revoked").waitFor();
    const { text } = await ask({ url: "keys?include_revoked=true" });
    assert.match(
      text,
      /"label":"integration","created_at":"[^"]+","last_used_at":null,"revoked_at":"2/,
    );
    assert.match(text, /"scopes":\["identity:read","webhooks:manage"\]/);
  });

  test("a payload is shown only after a click, and erased after confirmation", async (t) => {
    const { page, deps, deliverDue } = await open(t);
    const { failedEvent: event } = await aBusyPartner({ deps, deliverDue });
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await signIn(page, `#/events/${event}`);
    await row(page, "dead_lettered").waitFor();
    const isRead = () => asked.some((url) => url.endsWith(`/events/${event}`));
    assert.ok(!isRead());
    await button(page, "Show the payload").click();
    await page.getByText('"message": "event 0"').waitFor();
    assert.ok(isRead());
    await button(page, "Erase payload…").click();
    await button(page, "Erase payload").click();
    await notice(page).getByText("The payload is erased.").waitFor();
    await page.getByText("{}", { exact: true }).waitFor();
  });

  test("errors are shown in the service's words, or in the console's if there is no answer", async (t) => {
    const { page } = await open(t);
    await signIn(page, "#/deliveries?since=yesterday&limit=0");
    const faults = /since must be a time from 1970 on.*; limit must be an integer/;
    await page.getByRole("alert").getByText(faults).waitFor();
    await visit(page, `#/organizations/${encodeURIComponent(HOSTILE)}`);
    await heading(page, HOSTILE).waitFor();
    await page.getByRole("alert").getByText("There is no such organization.").first().waitFor();
    await visit(page, "#/deliveries/dlv_x");
    await page.getByRole("alert").getByText("There is no such delivery.").waitFor();
    await page.context().setOffline(true);
    await page.getByRole("link", { name: "Subscriptions" }).click();
    await page.getByRole("alert").getByText("The service is unreachable.").waitFor();
  });
});
