import { createHmac } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { aBrowserAt, DESKTOP, type View } from "./browser.ts";
import { startDnsServer } from "./dns-server.ts";
import { startReceiver } from "./receiver.ts";
import { aPartner, aRig } from "./rig.ts";
import { startService } from "./service.ts";
import { aTemporaryFolder } from "./temporary-folder.ts";

export const heading = (page: Page, name: string) =>
  page.getByRole("heading", { name, exact: true });
export const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

/** A service in a platform's name and colours, and a browser at its desk. Each page that is opened has a partner and a receiver of its own. */
export async function aServedDesk() {
  const dns = await startDnsServer({ after });
  dns.set("hooks.test", { A: ["127.0.0.2"] });
  const logo = join(await aTemporaryFolder({ after }), "logo.svg");
  await writeFile(logo, '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>');
  const settings = {
    ...{ EGRESS_ALLOW: "127.0.0.2/32", DNS_SERVERS: dns.address, ATTEMPT_TIMEOUT: "2s" },
    ...{ DESK_TITLE: "Acme <Hooks>", DESK_LOGO: logo, DESK_ACCENT: "#8a1f5c" },
  };
  const service = await startService({ after }, await aRig({ after }, settings));
  const site = await aBrowserAt(service.partnerUrl);
  let partners = 0;
  return async (t: TestContext, view: View = DESKTOP) => {
    const opened = await site.open(t, view);
    await opened.page.goto("/desk");
    const receiver = await startReceiver(t, { host: "hooks.test" });
    const slug = `acme-${++partners}`;
    return { ...opened, service, receiver, slug, acme: await aPartner(service, slug) };
  };
}

export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel("API key").fill(key);
  await button(page, "Open").click();
}

export function signed(secret: string, timestamp: unknown, body: Buffer): string {
  const mac = createHmac("sha256", secret)
    .update(`${String(timestamp)}.`)
    .update(body);
  return `sha256=${mac.digest("hex")}`;
}
