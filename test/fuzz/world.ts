import { readFileSync } from "node:fs";
import type { TestContext } from "node:test";
import type { RouteOptions } from "fastify";
import type { App } from "../../src/http/app.ts";
import { BUILT_SITE, type SiteManifest } from "../../src/http/docs/site.ts";
import { PartnerError } from "../../src/lib/errors.ts";
import { publicId, randomId } from "../../src/lib/ids.ts";
import { createEventTypes } from "../../src/subjects/event-types/rules.ts";
import { createApiKey } from "../../src/subjects/keys/work.ts";
import { createOrganization } from "../../src/subjects/organizations/work.ts";
import { createRedelivery } from "../../src/subjects/redeliveries/work.ts";
import { createDatabase } from "../support/database.ts";
import { aSubscription, attemptAll, claimAll, publish, refused } from "../support/engine.ts";
import { aNestedType } from "../support/nested-type.ts";
import { OPERATORS, startOperatorApi } from "../support/operator-api.ts";
import { startPartnerApi } from "../support/partner-api.ts";

/** One of the two listeners, with what requests need. */
export interface Listener {
  name: string;
  base: string;
  routes: RouteOptions[];
  /** The path of its OpenAPI document. */
  document: string;
  /** Values for placeholders, by name. */
  names: Record<string, string>;
  /** Creates the things again that a request may have deleted. */
  restore: () => Promise<void>;
}

export const ROUTE_HEADER = "x-answering-route";

const MANY = 1_000_000;
const DAY_MS = 86_400_000;

/** Starts both listeners on real ports, with one of everything in the database. */
export async function aWorld(t: TestContext): Promise<Listener[]> {
  const db = await createDatabase();
  const rules = { retryDelaysMs: [DAY_MS], autoDisableAfter: 20, leaseMs: 30_000 };
  const pages = BUILT_SITE;
  const partners = startPartnerApi(t, db, {
    rules: { ...rules, maxSubscriptions: MANY },
    eventTypes: createEventTypes([await aNestedType()]),
    options: { docs: pages },
  });
  const { deps, clock } = partners;
  const operators = startOperatorApi(t, deps, { pages });
  for (const { app } of [partners, operators]) tellRoute(app);

  const caller = await partners.aKeyOf(
    await partners.anOrganization({ rateLimitPerMinute: MANY }),
    "webhooks:manage",
  );
  const stranger = await partners.aSubscriptionOf(await partners.aKeyWith());
  const disabled = await partners.aSubscriptionOf(caller);
  await db`update subscriptions set auto_disabled_at = ${clock()} where id = ${disabled.id.slice(3)}`;

  let closed = 0;
  const operated = await createOrganization(deps, { slug: "operated" });
  const { id: receiving } = await aSubscription(deps, operated.id);
  const { delivery, event } = await aDeadLetter();

  const forPartners: Listener = {
    name: "partners",
    base: await partners.listen(),
    routes: await partners.routes(),
    document: "/api/v1/partner/openapi.json",
    names: {
      authorization: caller.authorization,
      page: "errors",
      foreign: stranger.id,
      disabled: disabled.id,
      organization: publicId("org", caller.organizationId),
    },
    restore: async () => {
      const { id, secret } = await partners.aSubscriptionOf(caller);
      Object.assign(forPartners.names, { subscription: id, secret });
    },
  };

  const forOperators: Listener = {
    name: "operators",
    base: await operators.app.listen({ host: "127.0.0.1", port: 0 }),
    // A stream of events has no end: overview-streams.test.ts reads it.
    routes: operators.app.routeTable.filter(({ url }) => !url.endsWith("/overview/live")),
    document: "/api/v1/admin/openapi.json",
    names: {
      authorization: `Bearer ${OPERATORS[0]?.token ?? ""}`,
      token: OPERATORS[0]?.token ?? "",
      organization: publicId("org", operated.id),
      page: aFileOfTheConsole(pages),
      slug: operated.slug,
      bridge: publicId("brg", randomId()),
      delivery,
      event,
      receiving: publicId("wh", receiving),
    },
    restore: async () => {
      const slug = `operated-${++closed}`;
      const organization = await createOrganization(deps, { slug });
      const { id } = await aSubscription(deps, organization.id);
      const { keyId } = await createApiKey(deps, { organization: slug });
      const waiting = await aWaitingDelivery(organization.id);
      const redelivery = await aRedelivery(slug);
      Object.assign(forOperators.names, {
        ...{ organization: publicId("org", organization.id), slug },
        ...{ subscription: publicId("wh", id), key_id: keyId, waiting },
        ...(redelivery === null ? {} : { redelivery }),
      });
    },
  };

  await Promise.all([forPartners.restore(), forOperators.restore()]);
  return [forPartners, forOperators];

  /** Null if the maximum of unfinished jobs is reached. */
  async function aRedelivery(organization: string): Promise<string | null> {
    try {
      return (await createRedelivery(deps, { filter: { organization } }, "fuzz")).id;
    } catch (error) {
      if (error instanceof PartnerError && error.code === "redelivery_limit") return null;
      throw error;
    }
  }

  async function aWaitingDelivery(organization: string): Promise<string> {
    const [event = ""] = await publish(deps, organization);
    const [row] = await db<{ id: string }[]>`
      select id from waiting_deliveries where event_id = ${event}`;
    return publicId("dlv", row?.id ?? "");
  }

  async function aDeadLetter(): Promise<{ delivery: string; event: string }> {
    await publish(deps, operated.id);
    for (let attempts = 0; attempts < 2; attempts++) {
      await attemptAll(deps, await claimAll(deps), () => refused);
      clock.advance(DAY_MS);
    }
    const [row] = await db<{ id: string; event_id: string }[]>`select id, event_id from finished`;
    return {
      delivery: publicId("dlv", row?.id ?? ""),
      event: publicId("evt", row?.event_id ?? ""),
    };
  }
}

/** Adds the matched route to every response, because a changed path may match another one. */
function tellRoute(app: App): void {
  app.addHook("onSend", ({ routeOptions }, reply, payload, done) => {
    if (routeOptions.url !== undefined) reply.header(ROUTE_HEADER, routeOptions.url);
    done(null, payload);
  });
}

/** A name with a digest, which changes with the content. */
function aFileOfTheConsole(pages: URL): string {
  const manifest = JSON.parse(readFileSync(new URL("site.json", pages), "utf8")) as SiteManifest;
  const path = Object.keys(manifest).find((one) => one.startsWith("/console/assets/"));
  return path?.replace("/console/", "") ?? "";
}
