import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { publicId } from "../../src/lib/ids.ts";
import type { View } from "../support/browser.ts";
import { signIn, visit } from "../support/console.ts";
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
      join finished_deliveries f on f.subscription_id = s.id and f.state = 'cancelled'
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

async function take(page: Page, place: string, name: string, shows: string): Promise<void> {
  if (page.url() === "about:blank") await signIn(page, `#/${place}`);
  else await visit(page, `#/${place}`);
  await page.getByText(shows).first().waitFor();
  await page.waitForTimeout(1_500); // Charts are painted after their panels.
  await page.screenshot({ path: fileURLToPath(new URL(`console-${name}.png`, FOLDER)) });
}
