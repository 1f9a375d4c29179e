import { after } from "node:test";
import type { Page } from "playwright-core";
import { createApiKey } from "../../src/actions/api-keys.ts";
import { publicId } from "../../src/domain/ids.ts";
import { aBrowserAt } from "./browser.ts";
import { aBuiltSite } from "./built-site.ts";
import { createDatabase } from "./database.ts";
import { acknowledged, aSubscription, createEngine, publish, refused } from "./engine.ts";
import { OPERATORS, startOperatorApi } from "./operator-api.ts";

/** What a partner may write into a URL, and an operator into a label. */
export const HOSTILE = "<img/src=x/onerror=alert(1)>";
export const TOKEN = OPERATORS[0]?.token ?? "";

/** The operators' listener and a browser before it; behind it a partner with one event that failed and four that arrived. */
export async function aServedConsole() {
  const db = await createDatabase();
  const rules = { retryDelaysMs: [], autoDisableAfter: 20, maxSubscriptions: 100, leaseMs: 30_000 };
  const { deps, deliverDue } = await createEngine(db, { rules });
  const hostileUrl = `https://receiver.example/${HOSTILE}`;
  const subscription = await aSubscription(deps, undefined, hostileUrl);
  const { organization_id: organizationId } = subscription;
  const organization = publicId("org", organizationId);
  await createApiKey(deps, { organization, label: HOSTILE });
  const [failed = ""] = await publish(deps, organizationId);
  await deliverDue(() => refused);
  await publish(deps, organizationId, 4);
  await deliverDue(() => acknowledged);

  const { app, ask } = startOperatorApi({ after }, deps, { pages: await aBuiltSite() });
  const base = await app.listen({ host: "127.0.0.1", port: 0 });
  return {
    site: await aBrowserAt(base),
    ask,
    organization,
    failedEvent: publicId("evt", failed),
    aSubscription: async () => publicId("wh", (await aSubscription(deps, organizationId)).id),
  };
}

export async function signIn(page: Page, place = "", token = TOKEN): Promise<void> {
  await page.goto(`/console${place}`);
  await page.getByLabel("Operator token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
}
