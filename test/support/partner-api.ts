import { randomBytes, randomUUID } from "node:crypto";
import type { InjectOptions, LightMyRequestResponse, RouteOptions } from "fastify";
import { pino } from "pino";
import { Egress } from "../../src/egress/index.ts";
import type { App } from "../../src/http/app.ts";
import { buildPartnerApp, type PartnerAppOptions } from "../../src/http/partner-app.ts";
import { publicId } from "../../src/lib/ids.ts";
import type { Database } from "../../src/postgres/database.ts";
import { createDependencies } from "../../src/subjects/create-dependencies.ts";
import { createCancelling } from "../../src/subjects/deliveries/cancellation.ts";
import { RETRY_DELAYS_MS } from "../../src/subjects/deliveries/rules.ts";
import type { Dependencies, Parts } from "../../src/subjects/dependencies.ts";
import { NO_SLOTS } from "../../src/subjects/events/publication.ts";
import { createApiKey, type IssuedKey } from "../../src/subjects/keys/work.ts";
import type { Organization } from "../../src/subjects/organizations/sql.ts";
import { createOrganization } from "../../src/subjects/organizations/work.ts";
import type { KeyRing } from "../../src/subjects/secrets/rules.ts";
import { createSubscription } from "../../src/subjects/subscriptions/work.ts";
import { createClock, type TestClock } from "./clock.ts";

export const BASE_URL = "https://partners.example.com";
export const EVENTS = ["vc.test.ping"];

const TEST_RING: KeyRing = [{ id: "test", key: randomBytes(32) }];

export interface TestKey extends IssuedKey {
  /** The value of the Authorization header. */
  authorization: string;
}

export interface PartnerApi {
  app: App;
  deps: Dependencies;
  /** The subscriptions for which the dispatcher was nudged. */
  nudged: string[];
  inject: (request: InjectOptions) => Promise<LightMyRequestResponse>;
  /** Opens a port on the loopback interface and returns its base URL. */
  listen: () => Promise<string>;
  /** Every route that was registered. */
  routes: () => Promise<RouteOptions[]>;
  anOrganization: (options?: { rateLimitPerMinute?: number }) => Promise<Organization>;
  aKeyOf: (organization: { id: string }, ...scopes: string[]) => Promise<TestKey>;
  /** A key of a new organization. */
  aKeyWith: (...scopes: string[]) => Promise<TestKey>;
  aSubscriptionOf: (key: TestKey) => Promise<{ id: string; secret: string }>;
}

/**
 * The partners' listener on a database, with a clock that the test moves. Every URL with valid text is
 * deliverable.
 */
export function startPartnerApi(
  t: { after: (end: () => Promise<unknown>) => void },
  db: Database,
  {
    clock = createClock(),
    options,
    ...parts
  }: Partial<Parts> & { clock?: TestClock; options?: Partial<PartnerAppOptions> } = {},
): PartnerApi & { clock: TestClock } {
  const nudged: string[] = [];
  const deps = createDependencies({
    db,
    clock,
    ring: TEST_RING,
    checkDestination: acceptAnyPublicName,
    rules: {
      retryDelaysMs: RETRY_DELAYS_MS,
      autoDisableAfter: 20,
      maxSubscriptions: 100,
      leaseMs: 30_000,
    },
    cancelling: createCancelling({ db, clock }),
    nudge: (due) => nudged.push(...due.map((d) => d.subscriptionId)),
    reserve: () => NO_SLOTS,
    ...parts,
  });
  const app = buildPartnerApp(deps, {
    logger: pino({ level: "silent" }),
    baseUrl: () => BASE_URL,
    health: { ready: () => Promise.resolve([{ name: "database", ok: true }]) },
    ...options,
  });
  t.after(() => app.close());

  const anOrganization: PartnerApi["anOrganization"] = (options) =>
    createOrganization(deps, { slug: `org-${randomUUID()}`, ...options });
  const aKeyOf: PartnerApi["aKeyOf"] = async ({ id }, ...scopes) => {
    const key = await createApiKey(deps, { organization: publicId("org", id), scopes });
    return { ...key, authorization: `Bearer ${key.token}` };
  };

  return {
    app,
    deps,
    clock,
    nudged,
    inject: (request) => app.inject(request),
    listen: () => app.listen({ host: "127.0.0.1", port: 0 }),
    routes: async () => {
      await app.ready();
      return app.routeTable;
    },
    anOrganization,
    aKeyOf,
    aKeyWith: async (...scopes) => aKeyOf(await anOrganization(), ...scopes),
    aSubscriptionOf: async ({ organizationId }) => {
      const url = "https://hooks.example.com/";
      const { id, secret } = await createSubscription(deps, organizationId, {
        url,
        events: EVENTS,
      });
      return { id: publicId("wh", id), secret };
    },
  };
}

const egress = new Egress({
  lookup: () => Promise.resolve({ kind: "addresses", addresses: ["93.184.216.34"] }),
});

const acceptAnyPublicName: Parts["checkDestination"] = (url) => egress.check(url);
