// Depends on: docs, site, src, test/browser, CHANGELOG.md
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import { chromium, type Page } from "playwright-core";
import { CHROMIUM, skip } from "../support/browser.ts";
import { button, signIn } from "../support/desk.ts";
import { ADMIN_TOKEN } from "../support/program.ts";
import { aPartner, aRig } from "../support/rig.ts";
import { startService } from "../support/service.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

/** A page of a browser whose user has blocked all cookies, and with them every storage of a page. */
async function aStrictPage(t: TestContext, baseURL: string) {
  const folder = await aTemporaryFolder(t);
  await mkdir(join(folder, "Default"));
  const preferences = { profile: { default_content_setting_values: { cookies: 2 } } };
  await writeFile(join(folder, "Default/Preferences"), JSON.stringify(preferences));
  const browser = await chromium.launchPersistentContext(folder, {
    ...{ executablePath: CHROMIUM ?? "", baseURL },
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });
  t.after(() => browser.close());
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on("pageerror", ({ message }) => complaints.push(message));
  return { page, complaints };
}

const isBlocked = (page: Page) =>
  page.evaluate("(() => { try { return !localStorage; } catch { return true; } })()");

describe("in a browser that blocks all cookies", { skip }, () => {
  test("documentation, desk and console work as far as they can, and the console says what it needs", async (t) => {
    const service = await startService(t, await aRig(t));
    const acme = await aPartner(service, "acme");
    const { page, complaints } = await aStrictPage(t, service.partnerUrl);

    await page.goto("/docs/verifying");
    assert.equal(await isBlocked(page), true);
    const tab = page.getByRole("tab", { name: "Python" }).first();
    await tab.click();
    assert.equal(await tab.getAttribute("aria-selected"), "true");
    for (const appearance of ["light", "dark", "system"]) {
      await page.locator(".appearance").click();
      assert.equal(await page.evaluate("document.documentElement.dataset.appearance"), appearance);
    }

    await page.goto("/desk");
    await signIn(page, acme.token);
    await page.getByText("No subscription yet").waitFor({ timeout: 10_000 });
    await button(page, "Sign out").click();
    await page.getByLabel("API key").waitFor({ timeout: 10_000 });

    await page.goto(`${service.operatorUrl}/console/`);
    await page.getByLabel("Operator token").fill(ADMIN_TOKEN);
    await button(page, "Sign in").click();
    await page.getByText("allow cookies for this address").waitFor({ timeout: 10_000 });
    assert.deepEqual(complaints, []);
  });
});
