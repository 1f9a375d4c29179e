// Depends on: docs, site, src, test/browser, CHANGELOG.md
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { signatureHeaders } from "../../src/webhook/sign.ts";
import { axeFindings } from "../support/axe.ts";
import { PHONE, skip, type View } from "../support/browser.ts";
import { aServedDesk, button, heading, signed, signIn } from "../support/desk.ts";
import { ADMIN_TOKEN } from "../support/program.ts";
import { startReceiver } from "../support/receiver.ts";
import { status } from "../support/receiver-scripts.ts";
import { call } from "../support/rig.ts";

const run = promisify(execFile);

interface Envelope {
  id: string;
  subscription_id: string;
}

interface Failing {
  consecutive_failures: number;
}

const LIMITED = {
  ...{ status: 429, contentType: "application/problem+json", headers: { "retry-after": "1" } },
  body: JSON.stringify({ status: 429, code: "rate_limited", detail: "Too many." }),
};

describe("cases at the partners' desk in a browser", { skip }, async () => {
  const openDesk = skip === false ? await aServedDesk() : undefined;
  const open = (t: TestContext, view?: View) => {
    assert.ok(openDesk);
    return openDesk(t, view);
  };

  test("the request of a test event is shown as curl, and sends the same bytes with signatures of now", async (t) => {
    const { page, acme, receiver } = await open(t);
    const { id, secret } = await acme.subscribe(receiver.url("/in?from=it's"));
    await signIn(page, acme.token);
    await page.getByRole("link", { name: receiver.url("/in") }).click();
    await page.getByLabel("Signing secret").fill(secret);
    await button(page, "Send a test event").click();
    const sent = await receiver.next();
    await page.getByText("The request that was sent, as curl").click();
    await page.getByText("curl -i").waitFor();
    const command = (await page.locator("details pre").textContent()) ?? "";
    const there = receiver.url("").replace("hooks.test", "127.0.0.2");
    await run("sh", ["-c", command.replace("http://localhost:3000", there).replace("-i", "-sk")]);

    const repeated = await receiver.next();
    assert.equal(repeated.body.toString(), sent.body.toString());
    assert.equal(repeated.path, "/in?from=it%27s");
    assert.equal((JSON.parse(sent.body.toString()) as Envelope).subscription_id, id);
    const timestampMs = Number(repeated.headers["x-vc-timestamp"]);
    const eventId = (JSON.parse(sent.body.toString()) as Envelope).id;
    const { body } = sent;
    const signatures = signatureHeaders({ signingSecret: secret, eventId, timestampMs, body });
    for (const [name, value] of Object.entries(signatures)) {
      assert.equal(repeated.headers[name.toLowerCase()], value, name);
    }
    for (const name of ["content-type", "user-agent", "x-vc-attempt"]) {
      assert.equal(repeated.headers[name], sent.headers[name], name);
    }
  });

  test("a failure is shown with its cause, its repair and the time of the next attempt", async (t) => {
    const { page, acme, receiver } = await open(t);
    receiver.answer(status(503));
    const { id, secret } = await acme.subscribe(receiver.url("/in"));
    await signIn(page, acme.token);
    await page.getByRole("link", { name: receiver.url("/in") }).click();
    await page.getByLabel("Signing secret").fill(secret);
    await button(page, "Send a test event").click();
    await page.getByText(/The first attempt of evt_.* failed/).waitFor();
    await page.getByText("failing, 1 of 20").waitFor();
    const failed = page.getByRole("region", { name: "Failed attempts" });
    await failed.getByText("http_503").first().waitFor();
    await failed.getByText("Look for errors of your receiver").waitFor();
    assert.equal(await failed.getByText("final URL").count(), 0, "the repair of this status alone");
    const explained = failed.getByRole("link", { name: "How to see it with curl" });
    const href = (await explained.getAttribute("href")) ?? "";
    const { hash } = new URL(href, page.url());
    const documentation = await (await fetch(new URL(href, page.url()))).text();
    assert.ok(hash.length > 1 && documentation.includes(`id="${hash.slice(1)}"`), href);
    await failed.getByText(/Next attempt in (1 min|[0-9]+ s)\./).waitFor();
    assert.deepEqual(await axeFindings(page), []);

    await page.getByRole("link", { name: "Subscriptions", exact: true }).first().click();
    await page.getByText("failing, 1 of 20").waitFor();
    assert.match(id, /^wh_/);
  });

  test("while the service is away or the limit is reached, the page says so and goes on by itself", async (t) => {
    const { page, acme, receiver } = await open(t);
    await acme.subscribe(receiver.url("/in"));
    let calls = 0;
    await page.route("**/api/v1/partner/webhooks", async (route) => {
      calls++;
      if (calls === 1) await route.abort();
      else if (calls === 2) await route.fulfill(LIMITED);
      else await route.continue();
    });
    await signIn(page, acme.token);
    await page.getByRole("alert").getByText("This page tries again by itself.").waitFor();
    await page.getByRole("link", { name: receiver.url("/in") }).waitFor();
    assert.equal(calls, 3);
  });

  test("a test event whose outcome cannot be read is said to be sent, and not to have arrived", async (t) => {
    const { page, acme, receiver } = await open(t);
    const { secret } = await acme.subscribe(receiver.url("/in"));
    await signIn(page, acme.token);
    await page.getByRole("link", { name: receiver.url("/in") }).click();
    await page.getByText("No attempt has failed").waitFor();
    await page.route("**/failures*", (route) => route.abort());
    await page.getByLabel("Signing secret").fill(secret);
    await button(page, "Send a test event").click();
    await page.getByText("Its outcome could not be read").waitFor();
    assert.equal(await page.getByText("most likely acknowledged").count(), 0);
  });

  test("a disabled subscription is replaced in its own words, and the same cause is explained once", async (t) => {
    const { page, acme, receiver } = await open(t);
    receiver.answer(status(400));
    const { id, secret } = await acme.subscribe(receiver.url("/in"));
    for (let n = 0; n < 20; n++) await acme.ping({ id, secret });
    await signIn(page, acme.token);
    await page.getByText(/^disabled/).waitFor();
    await page.getByRole("link", { name: receiver.url("/in") }).click();
    const failed = page.getByRole("region", { name: "Failed attempts" });
    await failed.getByText("http_400").nth(19).waitFor();
    assert.equal(await failed.getByText("each subscription has its own").count(), 1);
    await failed.getByRole("link", { name: "check it" }).waitFor();
    await page.getByRole("link", { name: "Replace it" }).click();
    await heading(page, "Replace the subscription").waitFor();
    await page.getByText("Repair the receiver first").waitFor();
    assert.equal(await page.getByText("arrives twice").count(), 0);
    assert.deepEqual(await axeFindings(page), []);
  });

  test("after a repair, the failure says that the receiver has acknowledged since", async (t) => {
    const { page, acme, receiver } = await open(t);
    receiver.answer(status(503));
    const subscription = await acme.subscribe(receiver.url("/in"));
    await page.clock.install();
    await signIn(page, acme.token);
    await page.getByRole("link", { name: receiver.url("/in") }).click();
    await page.getByLabel("Signing secret").fill(subscription.secret);
    await button(page, "Send a test event").click();
    const failed = page.getByRole("region", { name: "Failed attempts" });
    await failed.getByText(/Next attempt in/).waitFor();
    receiver.answer(status(204));
    await acme.ping(subscription);
    while (
      ((await acme.ask("/webhooks")).body as unknown as Failing[])[0]?.consecutive_failures !== 0
    );
    await page.clock.fastForward(90_000); // The page reads again when the next attempt is over.
    await failed.getByText("your receiver has acknowledged since").waitFor();
  });

  test("a failure of TLS names its cause and the repair of this cause alone", async (t) => {
    const { page, acme } = await open(t);
    const strange = await startReceiver(t, { host: "hooks.test", certificate: "self-signed" });
    const { secret } = await acme.subscribe(strange.url("/in"));
    await signIn(page, acme.token);
    await page.getByRole("link", { name: strange.url("/in") }).click();
    await page.getByLabel("Signing secret").fill(secret);
    await button(page, "Send a test event").click();
    const failed = page.getByRole("region", { name: "Failed attempts" });
    await failed.getByText("The certificate signs itself.").waitFor();
    await failed.getByText("Use a certificate of a public authority.").waitFor();
    assert.equal(await failed.getByText("Renew").count(), 0);
  });

  test("a rotation that was left goes on with the second subscription", async (t) => {
    const { page, acme, receiver } = await open(t);
    await acme.subscribe(receiver.url("/in"));
    await signIn(page, acme.token);
    await page.getByRole("link", { name: receiver.url("/in") }).click();
    await page.getByRole("link", { name: "Rotate the secret" }).click();
    await button(page, "Create the second one").click();
    await button(page, "It accepts both").waitFor();
    await page.goBack();
    await page.getByRole("link", { name: "Rotate the secret" }).click();
    await button(page, "Go on with it").click();
    await button(page, "It accepts both").click();
    const { body } = await acme.ask("/webhooks");
    assert.equal((body as unknown as unknown[]).length, 2);
  });

  test("a key that is wrong, weak or revoked is told what it lacks", async (t) => {
    const { page, slug, acme, service } = await open(t);
    await signIn(page, "nonsense");
    await page.getByRole("alert").getByText("The key must be vck_<key_id>.<secret>").waitFor();
    await signIn(page, `${acme.token.slice(0, -1)}${acme.token.endsWith("A") ? "B" : "A"}`);
    await page.getByRole("alert").getByText("Copy it again, whole").waitFor();

    const admin = `${service.operatorUrl}/api/v1/admin`;
    const weak = await call(`${admin}/keys`, {
      method: "POST",
      token: ADMIN_TOKEN,
      body: { organization: slug },
    });
    await signIn(page, String(weak.body["token"]));
    await page.getByRole("alert").getByText("This key lacks the scope webhooks:manage").waitFor();

    await page.reload();
    await signIn(page, acme.token);
    await heading(page, "No subscription yet").waitFor();
    const keyId = acme.token.split(".")[0] ?? "";
    await call(`${admin}/keys/${keyId}`, { method: "DELETE", token: ADMIN_TOKEN });
    await page.getByRole("link", { name: "Check a signature" }).click();
    await page.getByRole("link", { name: "Subscriptions", exact: true }).click();
    await page.getByRole("alert").getByText("You are signed out.").waitFor();
  });

  test("the check of a signature names the likely mistake, and sends nothing", async (t) => {
    const { page, acme } = await open(t);
    await signIn(page, acme.token);
    await heading(page, "No subscription yet").waitFor();
    const sent: string[] = [];
    page.on("request", (request) => {
      if (!request.url().endsWith(".svg")) sent.push(request.url()); // The icon, which a tab asks for late.
    });
    await page.getByRole("link", { name: "Check a signature" }).click();
    const secret = `whsec_${"A".repeat(44)}`;
    const body = JSON.stringify({ event: "vc.test.ping", id: "evt_1", data: { message: "a" } });
    const at = (ms: number) => String(Date.now() + ms);
    const headers = (timestamp: string, over = body) =>
      `x-vc-timestamp: ${timestamp}\nX-VC-Signature: ${signed(secret, timestamp, Buffer.from(over))}`;
    const now = at(0);
    const cases: [what: RegExp, pasted: [headers: string, body: string, secret: string]][] = [
      [/^valid/, [headers(now), body, secret]],
      [
        /forged: Body changed by a parser/,
        [headers(now), JSON.stringify(JSON.parse(body), null, 2), secret],
      ],
      [
        /forged: Body changed by a parser/,
        [
          headers(now),
          JSON.stringify({ data: { message: "a" }, event: "vc.test.ping", id: "evt_1" }),
          secret,
        ],
      ],
      [/forged: Wrong secret/, [headers(now), body, `whsec_${"B".repeat(44)}`]],
      [/forged: Secret without its prefix/, [headers(now), body, secret.slice("whsec_".length)]],
      [/malformed: Timestamp in seconds/, [headers(now.slice(0, 10)), body, secret]],
      [/stale: Clock off by 7 min/, [headers(at(-7 * 60_000)), body, secret]],
      [
        /malformed: Headers of another scheme/,
        ["webhook-id: 1\nwebhook-signature: v1,x", body, secret],
      ],
      [
        /malformed: X-VC-Timestamp missing/,
        [`X-VC-Signature: sha256=${"0".repeat(64)}`, body, secret],
      ],
    ];
    for (const [what, [pastedHeaders, pastedBody, pastedSecret]] of cases) {
      await page.getByLabel("Headers of the request").fill(pastedHeaders);
      await page.getByLabel("Raw body").fill(pastedBody);
      await page.getByLabel("Signing secret").fill(pastedSecret);
      await button(page, "Check").click();
      await page.getByText(what).waitFor();
    }
    assert.deepEqual(sent, []);
    assert.deepEqual(await axeFindings(page), []);
  });

  test("it fits a phone, and stands in a platform's colours and name", async (t) => {
    const { page, acme, receiver, complaints } = await open(t, { ...PHONE, colorScheme: "dark" });
    await signIn(page, acme.token);
    await heading(page, "No subscription yet").waitFor();
    assert.equal(await page.title(), "Subscriptions · Acme <Hooks>");
    await page.getByText("Acme <Hooks>").waitFor();
    assert.deepEqual(await axeFindings(page), []);
    const url = receiver.url(`/${"hooks-of-acme/".repeat(6)}in`);
    await page.getByRole("link", { name: "New subscription" }).click();
    await page.getByLabel("URL of the receiver").fill(url);
    await button(page, "Create").click();
    await page.getByText("It is shown until you sign out").waitFor();
    const widthOf = (what: string) => page.evaluate<number>(what);
    const width = await widthOf("document.documentElement.scrollWidth");
    assert.ok(width <= 390, `${width} px wide`);
    const header = await widthOf("document.querySelector('header').offsetHeight");
    assert.ok(header <= 120, `the header is ${header} px high`);
    await page.getByRole("link", { name: "Subscriptions", exact: true }).first().click();
    await page.getByRole("link", { name: url }).waitFor();
    const cell = "document.querySelector('td[data-line=\"1\"]')";
    const isWhole =
      (await widthOf(`${cell}.scrollWidth`)) <= (await widthOf(`${cell}.clientWidth`));
    assert.ok(isWhole, "the URL is shown whole");
    assert.deepEqual(complaints, []);
  });
});
