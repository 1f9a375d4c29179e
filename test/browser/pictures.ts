import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { publicId } from "../../src/lib/ids.ts";
import { aBrowserAt, type View } from "../support/browser.ts";
import { signIn, visit } from "../support/console.ts";
import { startDnsServer } from "../support/dns-server.ts";
import { startReceiver } from "../support/receiver.ts";
import { status } from "../support/receiver-scripts.ts";
import { aPartner, aRig } from "../support/rig.ts";
import { startService } from "../support/service.ts";
import { DISABLED } from "../support/shown-partners.ts";
import { aShownService } from "../support/shown-service.ts";

const FOLDER = new URL("../../../docs/images/", import.meta.url);
const VIEW: View = { viewport: { width: 1280, height: 800 }, deviceScaleFactor: 2 };

/** Renews the pictures of the console in the documentation: node scripts/pictures.js */
test("pictures of the console", async (t) => {
  const { db, ask, go, site } = await aShownService();
  const [found] = await db<{ subscription: string; delivery: string; other: string }[]>`
    select s.id as subscription, f.id as delivery, o.id as other
      from subscriptions s
      join finished f on f.subscription_id = s.id and f.state = 'cancelled'
      join subscriptions o on o.organization_id = s.organization_id and o.auto_disabled_at is null
     where s.host = ${DISABLED}
     order by f.attempts desc, f.id
     limit 1`;
  const delivery = publicId("dlv", found?.delivery ?? "");
  const subscription = publicId("wh", found?.subscription ?? "");
  const to = publicId("wh", found?.other ?? "");
  await ask({ method: "POST", url: `deliveries/${delivery}/redeliver`, body: { to } });
  await go();

  const light = await site.open(t, { ...VIEW, colorScheme: "light" });
  await take(light.page, "overview", "overview", "Attempts");
  await take(light.page, `deliveries/${delivery}`, "delivery", "Sent again");
  const dark = await site.open(t, { ...VIEW, colorScheme: "dark" });
  await take(
    dark.page,
    `subscriptions/${subscription}`,
    "subscription",
    "failed attempts in a row",
  );
});

test("pictures of the desk", async (t) => {
  const names = await startDnsServer({ after });
  names.set("hooks.acme.test", { A: ["127.0.0.2"] });
  const settings = { EGRESS_ALLOW: "127.0.0.2/32", DNS_SERVERS: names.address };
  const service = await startService(t, await aRig(t, settings));
  const receiver = await startReceiver(t, { host: "hooks.acme.test" });
  const acme = await aPartner(service, "acme");
  const site = await aBrowserAt(service.partnerUrl);
  const open = async (colorScheme: "light" | "dark") => {
    const { page } = await site.open(t, { ...VIEW, colorScheme });
    await page.goto("/desk");
    await page.getByLabel("API key").fill(acme.token);
    await page.getByRole("button", { name: "Open" }).click();
    await page
      .getByRole("heading", { name: /subscription/i })
      .first()
      .waitFor();
    return page;
  };
  const sent = async (page: Page) => {
    await page.getByRole("button", { name: "Send a test event" }).click();
    await page
      .getByText(/acknowledged it|The first attempt of/)
      .first()
      .waitFor();
  };

  const light = await open("light");
  await light.getByRole("link", { name: "New subscription" }).click();
  await light.getByLabel("URL of the receiver").fill(receiver.url("/partner-api"));
  await light.getByRole("button", { name: "Create" }).click();
  await light.getByText("It is shown until you sign out").waitFor();
  await sent(light);
  await light.screenshot({ path: pictureOf("desk-created") });

  receiver.answer(status(503));
  const { secret } = await acme.subscribe(receiver.url("/orders"));
  const dark = await open("dark");
  await dark.getByRole("link", { name: receiver.url("/orders") }).click();
  await dark.getByLabel("Signing secret").fill(secret);
  await sent(dark);
  await dark.getByText("http_503").first().waitFor();
  await dark.getByText("failing, 1 of 20").waitFor();
  await dark.getByText("Next attempt in").last().scrollIntoViewIfNeeded();
  await dark.screenshot({ path: pictureOf("desk-failure") });
});

async function take(page: Page, place: string, name: string, shows: string): Promise<void> {
  if (page.url() === "about:blank") await signIn(page, `#/${place}`);
  else await visit(page, `#/${place}`);
  await page.getByText(shows).first().waitFor();
  await page.waitForTimeout(1_500); // Charts are painted after their panels.
  await page.screenshot({ path: pictureOf(`console-${name}`) });
}

function pictureOf(name: string): string {
  return fileURLToPath(new URL(`${name}.png`, FOLDER));
}
