import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { axeFindings } from "../support/axe.ts";
import { skip, type View } from "../support/browser.ts";
import { aServedDesk, button, heading, signed, signIn } from "../support/desk.ts";
import { aRig } from "../support/rig.ts";
import { startService } from "../support/service.ts";

/** Everything of a page that a script could read, also later. */
const KEPT = `JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state])`;

describe("the partners' desk in a browser", { skip }, async () => {
  const openDesk = skip === false ? await aServedDesk() : undefined;
  const open = (t: TestContext, view?: View) => {
    assert.ok(openDesk);
    return openDesk(t, view);
  };

  test("a partner's first five minutes: key, subscription, secret, test event, rotation", async (t) => {
    const { page, complaints, acme, receiver } = await open(t);
    await signIn(page, acme.token);
    await heading(page, "No subscription yet").waitFor();
    assert.deepEqual(await axeFindings(page), []);

    await page.getByRole("link", { name: "New subscription" }).click();
    await page.getByLabel("URL of the receiver").fill("http://hooks.test/in");
    await page.getByText("deliveries are never sent in clear text").waitFor();
    await button(page, "Create").click();
    await page.getByRole("alert").getByText(/https/).waitFor();
    await page.getByLabel("URL of the receiver").fill(receiver.url("/in"));
    await button(page, "Create").click();
    await page.getByText("It is shown until you sign out").waitFor();
    const secret = (await page.locator(".issued code").textContent()) ?? "";
    assert.match(secret, /^whsec_/);
    assert.ok((await page.locator(".commands pre").first().textContent())?.includes(secret));

    await button(page, "Send a test event").click();
    await page.getByText("your receiver has most likely acknowledged it").waitFor();
    const { body, headers } = receiver.requests.at(-1) ?? assert.fail("nothing arrived");
    assert.equal(headers["x-vc-signature"], signed(secret, headers["x-vc-timestamp"], body));

    const docs = page.waitForEvent("popup");
    await page.getByRole("link", { name: "Verifying deliveries" }).click();
    await (await docs).close();
    assert.ok(
      await page.getByText(secret, { exact: true }).isVisible(),
      "the secret is still there",
    );
    await page.getByRole("link", { name: "Rotate the secret" }).click();
    await button(page, "Create the second one").click();
    await button(page, "It accepts both").click();
    assert.deepEqual(await axeFindings(page), []);
    await button(page, "Delete the old one").first().click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete the old one" }).click();
    await page.getByText("The secret is rotated.").waitFor();
    const { body: left } = await acme.ask("/webhooks");
    assert.equal((left as unknown as unknown[]).length, 1);
    assert.deepEqual(complaints, []);
  });

  test("a key stays in the tab, is kept only if asked for, and is gone after sign-out", async (t) => {
    const { page, acme } = await open(t);
    await signIn(page, acme.token);
    await heading(page, "No subscription yet").waitFor();
    assert.ok(!(await page.evaluate<string>(KEPT)).includes(acme.token));
    await page.reload();
    await heading(page, "Your API key").waitFor();

    await page.getByLabel("Keep it until this tab is closed").check();
    await signIn(page, acme.token);
    await heading(page, "No subscription yet").waitFor();
    await page.reload();
    await heading(page, "No subscription yet").waitFor();
    await page.route("**/api/v1/partner/me", (route) => route.abort());
    await page.reload();
    await page.getByRole("alert").getByText("The service is unreachable.").waitFor();
    await page.unroute("**/api/v1/partner/me");
    await page.reload();
    await heading(page, "No subscription yet").waitFor(); // A service that is away loses no key.
    await button(page, "Sign out").click();
    await heading(page, "Your API key").waitFor();
    assert.ok(!(await page.evaluate<string>(KEPT)).includes("vck_"));
  });
});

test("the desk cannot be framed, loads nothing from elsewhere, and can be switched off", async (t) => {
  const service = await startService(t, await aRig(t));
  const { headers } = await fetch(`${service.partnerUrl}/desk`);
  const policy = headers.get("content-security-policy") ?? "";
  for (const rule of ["frame-ancestors 'none'", "default-src 'none'", "trusted-types 'none'"]) {
    assert.ok(policy.includes(rule), rule);
  }
  assert.equal(headers.get("access-control-allow-origin"), null);
  const slashed = await (await fetch(`${service.partnerUrl}/desk/`)).text();
  for (const [, path = ""] of slashed.matchAll(/(?:href|src)="([^"]+)"/g)) {
    if (path === "#content") continue;
    const { status } = await fetch(new URL(path, `${service.partnerUrl}/desk/`));
    assert.equal(status, 200, path);
  }
  const behind = await startService(t, await aRig(t, { BASE_URL: "https://acme.example/hooks" }));
  const page = await (await fetch(`${behind.partnerUrl}/desk`)).text();
  assert.match(page, /src="\/hooks\/desk\/assets\//);
  const off = await startService(t, await aRig(t, { DESK: "false" }));
  for (const path of ["/desk", "/desk/brand.css", "/desk/logo"]) {
    assert.equal((await fetch(`${off.partnerUrl}${path}`)).status, 404, path);
  }
});
