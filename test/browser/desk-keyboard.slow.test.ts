// Depends on: docs, site, src, test/browser, CHANGELOG.md
import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { skip } from "../support/browser.ts";
import { aServedDesk } from "../support/desk.ts";
import { enter, focusedIs, tabTo } from "../support/keyboard.ts";
import { status } from "../support/receiver-scripts.ts";

describe("the partners' desk with the keyboard alone", { skip }, async () => {
  const openDesk = skip === false ? await aServedDesk() : undefined;
  const open = async (t: TestContext) => {
    assert.ok(openDesk);
    const opened = await openDesk(t);
    await opened.page.keyboard.insertText(opened.acme.token); // The field of the key has the focus.
    await opened.page.keyboard.press("Enter");
    await focusedIs(opened.page, "h1", "Subscriptions");
    return opened;
  };
  const type = async (page: Page, field: string, text: string) => {
    await tabTo(page, field);
    await page.keyboard.insertText(text);
  };

  test("create, test event, its request, rotation, sign-out", async (t) => {
    const { page, receiver, acme, complaints } = await open(t);
    await enter(page, "New subscription");
    await focusedIs(page, "h1", "New subscription");
    await type(page, "URL of the receiver", receiver.url("/in"));
    await page.keyboard.press("Enter");
    await focusedIs(page, "h1", /^hooks\.test/);
    await enter(page, "Python");
    await enter(page, "Send a test event");
    await page.getByText("your receiver has most likely acknowledged it").waitFor();
    await enter(page, /^The request that was sent/);
    await page.getByText("curl -i 'http://localhost:3000/in'").waitFor();

    await enter(page, "Rotate the secret");
    await focusedIs(page, "h1", "Rotate the secret");
    await enter(page, "Create the second one");
    await focusedIs(page, "h2", "Let the receiver accept both secrets");
    await enter(page, "It accepts both");
    await focusedIs(page, "h2", "Try the new secret");
    await enter(page, "Send a test event");
    await page.getByText("your receiver has most likely acknowledged it").waitFor();
    await enter(page, "Delete the old one");
    await focusedIs(page, "button", "Go back");
    await page.keyboard.press("Enter");
    await focusedIs(page, "button", "Delete the old one");
    await page.keyboard.press("Enter");
    await focusedIs(page, "button", "Go back");
    await enter(page, "Delete the old one");
    await focusedIs(page, "h1", /^hooks\.test/);
    assert.equal(((await acme.ask("/webhooks")).body as unknown as unknown[]).length, 1);

    await enter(page, "Sign out");
    await focusedIs(page, "input", "API key");
    assert.deepEqual(complaints, []);
  });

  test("failures: their filter, older ones, another test event, and the deletion", async (t) => {
    const { page, receiver, acme } = await open(t);
    const subscription = await acme.subscribe(receiver.url("/in"));
    const fail = async (code: number, times: number) => {
      receiver.answer(status(code));
      for (let n = 0; n < times; n++) await acme.ping(subscription);
      for (let n = 0; n < times; n++) await receiver.next();
    };
    await fail(503, 12);
    await fail(204, 1);
    await fail(400, 12);

    await enter(page, "Check a signature");
    await focusedIs(page, "h1", "Check a signature");
    await enter(page, "Subscriptions");
    await focusedIs(page, "h1", "Subscriptions");
    await enter(page, receiver.url("/in"));
    await focusedIs(page, "h1", /^hooks\.test/);
    const rows = page.locator(".failures > li");
    await rows.nth(19).waitFor();
    await tabTo(page, "Reason");
    await page.keyboard.type("http_503");
    await page.locator(".failures > li").nth(7).waitFor();
    assert.equal(await rows.count(), 8);
    await enter(page, "More");
    await focusedIs(page, "li", /http_503/);
    assert.equal(await rows.count(), 12);

    receiver.answer(status(503));
    await type(page, "Signing secret", subscription.secret);
    await page.keyboard.press("Enter");
    await focusedIs(page, "button", "Send a test event");
    await page.getByText(/The first attempt of evt_.* failed/).waitFor();
    await rows.nth(12).waitFor(); // What was read of older ones stays.

    await enter(page, "Delete");
    await focusedIs(page, "button", "Go back");
    await page.keyboard.press("Escape");
    await focusedIs(page, "button", "Delete");
    await page.keyboard.press("Enter");
    await focusedIs(page, "button", "Go back");
    await enter(page, "Delete");
    await focusedIs(page, "h1", "Subscriptions");
    await page.getByText("No subscription yet").waitFor();
  });

  test("the check of a signature, and an error that goes", async (t) => {
    const { page } = await open(t);
    await page.route("**/api/v1/partner/webhooks", (route) => route.abort());
    await enter(page, "Check a signature");
    await focusedIs(page, "h1", "Check a signature");
    await type(page, "Headers of the request", "X-VC-Timestamp: 1\nX-VC-Signature: sha256=0");
    await type(page, "Raw body", "{}");
    await type(page, "Signing secret", "whsec_A");
    await page.keyboard.press("Enter");
    await page.getByText("malformed: Not our signature").waitFor();

    await enter(page, "Subscriptions");
    await page.getByRole("alert").getByText("unreachable").waitFor();
    await tabTo(page, "Try again");
    await page.unroute("**/api/v1/partner/webhooks");
    await page.keyboard.press("Enter");
    await focusedIs(page, "h1", "Subscriptions");
    await page.getByText("No subscription yet").waitFor();
  });
});
