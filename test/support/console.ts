import { after } from "node:test";
import type { Page } from "playwright-core";
import type { Parts } from "../../src/actions/dependencies.ts";
import { createApiKey } from "../../src/actions/api-keys.ts";
import { systemClock } from "../../src/domain/clock.ts";
import { publicId } from "../../src/domain/ids.ts";
import { aBrowserAt } from "./browser.ts";
import { aBuiltSite } from "./built-site.ts";
import { createDatabase } from "./database.ts";
import { acknowledged, aSubscription, createEngine, publish, refused } from "./engine.ts";
import { OPERATORS, startOperatorApi } from "./operator-api.ts";

/** Text that a partner may put into a URL, and an operator into a label. */
export const HOSTILE = "<img/src=x/onerror=alert(1)>";
export const TOKEN = OPERATORS[0]?.token ?? "";

/** The operators' listener and a browser. Both use the real time, because the browser does. */
export async function aServedConsole(changed: Partial<Parts["rules"]> = {}) {
  const db = await createDatabase();
  const rules = {
    retryDelaysMs: [],
    autoDisableAfter: 20,
    maxSubscriptions: 1_000,
    leaseMs: 30_000,
  };
  const { deps, deliverDue } = await createEngine(db, {
    rules: { ...rules, ...changed },
    clock: systemClock,
  });
  const { app, ask } = startOperatorApi({ after }, deps, { pages: await aBuiltSite() });
  const base = await app.listen({ host: "127.0.0.1", port: 0 });
  return { deps, deliverDue, ask, site: await aBrowserAt(base) };
}

type Console = Awaited<ReturnType<typeof aServedConsole>>;

/** A partner with one event that failed and four that arrived. */
export async function aBusyPartner({ deps, deliverDue }: Pick<Console, "deps" | "deliverDue">) {
  const hostileUrl = `https://receiver.example/${HOSTILE}`;
  const subscription = await aSubscription(deps, undefined, hostileUrl);
  const { organization_id: organizationId } = subscription;
  const organization = publicId("org", organizationId);
  await createApiKey(deps, { organization, label: HOSTILE });
  const [failed = ""] = await publish(deps, organizationId);
  await deliverDue(() => refused);
  await publish(deps, organizationId, 4);
  await deliverDue(() => acknowledged);
  return {
    organization,
    subscription: publicId("wh", subscription.id),
    failedEvent: publicId("evt", failed),
    aSubscription: async () => publicId("wh", (await aSubscription(deps, organizationId)).id),
  };
}

export async function signIn(page: Page, place = "", token = TOKEN): Promise<void> {
  await page.goto(`/console${place}`);
  await page.getByLabel("Operator token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** Opens another page of the console by its address. */
export async function visit(page: Page, place: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(place)}`);
}

/** Removes the browser's complaints about missing sign-ins, because the console has to ask. */
export const apartFromSignIn = (complaints: string[]): string[] =>
  complaints.filter((one) => !one.includes("401 (Unauthorized)"));
