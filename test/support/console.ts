import { after } from "node:test";
import type { Page } from "playwright-core";
import { BUILT_SITE } from "../../src/http/docs/site.ts";
import { writeActivity } from "../../src/jobs/activity.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { parseId, publicId, randomId } from "../../src/lib/ids.ts";
import type { Database } from "../../src/postgres/database.ts";
import type { Post } from "../../src/queue/sender.ts";
import { countRecorded, countRequest } from "../../src/subjects/activity/counted.ts";
import type { Parts } from "../../src/subjects/dependencies.ts";
import { allowanceAt } from "../../src/subjects/keys/rules.ts";
import { createApiKey } from "../../src/subjects/keys/work.ts";
import { createOrganization } from "../../src/subjects/organizations/work.ts";
import { recordProcess } from "../../src/subjects/processes/sql.ts";
import { aBrowserAt } from "./browser.ts";
import { identity, REPORT } from "./counted-engine.ts";
import { createDatabase } from "./database.ts";
import {
  acknowledged,
  aSubscription,
  attemptAll,
  claimAll,
  createEngine,
  publish,
  refused,
} from "./engine.ts";
import { OPERATORS, startOperatorApi } from "./operator-api.ts";

/** Text that a partner may put into a URL, and an operator into a label. */
export const HOSTILE = "<img/src=x/onerror=alert(1)>";
export const TOKEN = OPERATORS[0]?.token ?? "";

/** The operators' listener and a browser. Both use the real time, because the browser does. */
export async function aServedConsole(changed: Partial<Parts["rules"]> = {}, given?: Database) {
  const db = given ?? (await createDatabase());
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
  const { app, ask } = startOperatorApi({ after }, deps, { pages: BUILT_SITE });
  const base = await app.listen({ host: "127.0.0.1", port: 0 });
  return { deps, deliverDue, ask, site: await aBrowserAt(base) };
}

type Console = Awaited<ReturnType<typeof aServedConsole>>;

/** A partner with one event that failed and four that arrived. */
export async function aBusyPartner({ deps, deliverDue }: Pick<Console, "deps" | "deliverDue">) {
  const hostileUrl = `https://receiver.example/${HOSTILE}`;
  const subscription = await aSubscription(deps, undefined, hostileUrl);
  const { organizationId } = subscription;
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

/** The requests of one organization: its whole limit. */
const REQUESTS = 600;

/**
 * Ten organizations with six subscriptions each. The first subscription of each is disabled if five failures do that, the
 * second fails every other time. A job sends the dead letters of one organization again, and no process works on it.
 */
export async function aBusySystem({ deps, ask }: Console) {
  const organizations: string[] = [];
  const events: string[] = [];
  for (let number = 0; number < 10; number++) {
    const { id } = await createOrganization(deps, { slug: `busy-${number}` });
    organizations.push(publicId("org", id));
    for (let place = 0; place < 6; place++) {
      const url = `https://receiver-${place}.busy-${number}.example/${"long-path/".repeat(20)}`;
      await aSubscription(deps, id, url);
    }
    events.push(...(await publish(deps, id, 6)).map((event) => publicId("evt", event)));
  }
  let attempts = 0;
  const answer = ({ url }: Post) => {
    const isRefused = url.includes("receiver-0") || (url.includes("receiver-1") && attempts++ % 2);
    return isRefused ? refused : acknowledged;
  };
  countRecorded(deps.activity, await attemptAll(deps, await claimAll(deps), answer));
  const [near = ""] = organizations;
  for (let place = 1; place <= REQUESTS; place++) {
    const allowance = allowanceAt(place, REQUESTS, deps.clock(), deps.clock());
    countRequest(deps.activity, parseId("org", near) ?? "", allowance);
  }
  await writeActivity(deps.db, deps.activity, randomId());
  const started = { ...identity, id: randomId(), startedAt: deps.clock() };
  await recordProcess(deps.db, started, REPORT, deps.clock());

  const [other = "", organization = "", closing = ""] = organizations;
  const job = await ask({
    method: "POST",
    url: "redeliveries",
    body: { filter: { organization } },
  });
  const list = await ask({ url: `subscriptions?organization=${organization}&order=failing` });
  const [subscription = ""] = (list.body as { items: { id: string }[] }).items.map(({ id }) => id);
  const [event = ""] = events;
  return {
    other,
    organization,
    closing,
    event,
    subscription,
    job: (job.body as { id: string }).id,
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
