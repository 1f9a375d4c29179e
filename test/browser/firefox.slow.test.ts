// Depends on: docs, site, src, test/browser, CHANGELOG.md
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { aServedSite } from "../support/browser.ts";
import { aBusySystem, aServedConsole, TOKEN } from "../support/console.ts";
import { startReceiver } from "../support/receiver.ts";
import { requireProgram } from "../support/required.ts";
import { aPartner, aRig } from "../support/rig.ts";
import { startService } from "../support/service.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

/** Drives an unchanged Firefox over WebDriver BiDi, which playwright-core cannot. */
const DRIVER = "puppeteer-core@24.43.1";

/** The part of puppeteer's page that the tests use. */
interface Page {
  goto: (url: string) => Promise<unknown>;
  evaluate: <T>(script: string) => Promise<T>;
  waitForFunction: (script: string, options?: { timeout: number }) => Promise<unknown>;
  type: (selector: string, text: string) => Promise<void>;
  click: (selector: string) => Promise<void>;
  on: (event: "console" | "pageerror", note: (entry: Note) => void) => void;
  close: () => Promise<void>;
}
interface Note {
  message?: string;
  text?: () => string;
  type?: () => string;
}
interface Firefox {
  newPage: () => Promise<Page>;
  close: () => Promise<void>;
}
type Launch = (options: object) => Promise<Firefox>;

async function aFirefox(): Promise<Firefox> {
  const folder = await aTemporaryFolder({ after });
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error", "--no-save"];
  await promisify(execFile)("npm", ["install", "--prefix", folder, ...quiet, DRIVER]);
  const { launch } = createRequire(join(folder, "x.js"))("puppeteer-core") as { launch: Launch };
  const firefox = await launch({
    browser: "firefox",
    executablePath: "/usr/bin/firefox-esr",
    headless: true,
  });
  after(() => firefox.close());
  return firefox;
}

/** A tab, and what the browser complains of. */
async function aTab(firefox: Firefox) {
  const page = await firefox.newPage();
  const complaints: string[] = [];
  page.on("pageerror", ({ message = "" }) => complaints.push(message));
  page.on("console", (entry) => {
    if (entry.type?.() === "error") complaints.push(entry.text?.() ?? "");
  });
  return { page, complaints };
}

/** Fails with what the page shows in place of it. */
async function shows(page: Page, text: string) {
  const script = `document.body.innerText.includes(${JSON.stringify(text)})`;
  await page.waitForFunction(script, { timeout: 20_000 }).catch(async () => {
    assert.fail(`no ${text} in ${await page.evaluate<string>("document.body.innerText")}`);
  });
}

const LIVE = `[...document.querySelectorAll(".badge")].some(({ innerText }) => innerText.trim() === "live")`;
const EXCESS = "document.documentElement.scrollWidth - innerWidth";

test("Firefox ESR shows the documentation and the console, also in seven tabs", async (t) => {
  if (!(await requireProgram(t, "firefox-esr", ["--version"]))) return;
  const firefox = await aFirefox();
  const docs = await aServedSite();
  const reader = await aTab(firefox);
  for (const [path, text] of Object.entries({
    "": "Quickstart",
    "/quickstart": "Get a receiver",
    "/verifying": "Verify a delivery",
    "/reference": "createSubscription",
    "/errors": "rate_limited",
  })) {
    await reader.page.goto(`${docs.base}/docs${path}`);
    assert.match(await reader.page.evaluate("document.body.textContent"), new RegExp(text, "i"));
    assert.ok((await reader.page.evaluate<number>(EXCESS)) <= 0, `${path} is too wide`);
  }
  assert.deepEqual(reader.complaints, []);

  const served = await aServedConsole();
  await aBusySystem(served);
  const { page, complaints } = await aTab(firefox);
  await page.goto(`${served.site.base}/console/`);
  await page.waitForFunction(`document.querySelector("input") !== null`);
  const signIn = `fetch("/api/v1/admin/session", { method: "POST",
    headers: { "content-type": "application/json", "x-requested-with": "console" },
    body: JSON.stringify({ token: ${JSON.stringify(TOKEN)} }) }).then(({ status }) => status)`;
  assert.equal(await page.evaluate(signIn), 204);
  complaints.length = 0; // Before the sign-in, a 401 is right.
  for (const [path, text] of Object.entries({
    overview: "Failing most",
    deliveries: "Deliveries",
    organizations: "busy-9",
    subscriptions: "Subscriptions",
    redeliveries: "Redeliveries",
    changes: "create_redelivery",
  })) {
    await page.goto(`${served.site.base}/console/?${path}#/${path}`);
    await shows(page, text);
  }
  assert.deepEqual(complaints, []);

  // A tab in the background has no stream of its own, so each is opened in front of the last.
  const tabs = [];
  for (let at = 1; at <= 7; at++) {
    const { page: tab } = await aTab(firefox);
    await tab.goto(`${served.site.base}/console/#/overview`);
    await tab.waitForFunction(LIVE, { timeout: 20_000 });
    tabs.push(tab);
  }
  const answer = `fetch("/api/v1/admin/organizations", { signal: AbortSignal.timeout(5000) }).then(({ status }) => status)`;
  assert.equal(await tabs[6]?.evaluate(answer), 200);
});

test("Firefox ESR leads a partner through the desk: key, subscription, secret, test event", async (t) => {
  if (!(await requireProgram(t, "firefox-esr", ["--version"]))) return;
  const { page, complaints } = await aTab(await aFirefox());
  const service = await startService(t, await aRig(t));
  const receiver = await startReceiver(t);
  const acme = await aPartner(service, "acme");
  await page.goto(`${service.partnerUrl}/desk`);
  await shows(page, "Your API key");
  await page.type("form input[name=key]", acme.token);
  await page.click("form button");
  await shows(page, "No subscription yet");
  await page.click("a[href='#/new']");
  await shows(page, "URL of the receiver");
  await page.type("form input[name=url]", receiver.url("/in"));
  await page.click("form button");
  await shows(page, "It is shown until you sign out");
  assert.match(await page.evaluate<string>("document.body.innerText"), /whsec_/);
  assert.ok((await page.evaluate<number>(EXCESS)) <= 0, "too wide");
  assert.deepEqual(complaints, []);
});
