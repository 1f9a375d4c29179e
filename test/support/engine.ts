import { randomBytes } from "node:crypto";
import type { Vetted } from "../../src/egress/index.ts";
import type { Database } from "../../src/postgres/database.ts";
import { createDeliverer } from "../../src/queue/deliver.ts";
import type { Post } from "../../src/queue/sender.ts";
import { createDependencies } from "../../src/subjects/create-dependencies.ts";
import { postpone, recordAttempts } from "../../src/subjects/deliveries/attempts.ts";
import { createCancelling } from "../../src/subjects/deliveries/cancellation.ts";
import { listDueSubscriptions } from "../../src/subjects/deliveries/claims-sql.ts";
import { claimDeliveries } from "../../src/subjects/deliveries/claims.ts";
import {
  type Attempt,
  type Claim,
  DEFERRED_DELAY_MS,
  type Outcome,
  RETRY_DELAYS_MS,
} from "../../src/subjects/deliveries/rules.ts";
import type { Dependencies, Parts } from "../../src/subjects/dependencies.ts";
import { NO_DISPATCHER, publish as publishEvents } from "../../src/subjects/events/publish.ts";
import { createOrganization } from "../../src/subjects/organizations/work.ts";
import { createSubscription } from "../../src/subjects/subscriptions/work.ts";
import { createClock } from "./clock.ts";

export type Answer = (post: Post) => Outcome | Promise<Outcome>;

export const acknowledged: Attempt["outcome"] = { kind: "acknowledged", httpStatus: 200 };
export const refused: Attempt["outcome"] = { kind: "refused", httpStatus: 503 };

/** The real engine and database, with a clock that the test moves. The network's answers are scripted. */
export async function createEngine(db: Database, overrides: Partial<Parts> = {}) {
  await db`delete from waiting_deliveries`; // Removes the deliveries of earlier tests.
  const clock = createClock();
  const deps = createDependencies({
    db,
    clock,
    ring: [{ id: "test", key: randomBytes(32) }],
    checkDestination: () => Promise.reject(new Error("not looked up in this test")),
    rules: {
      retryDelaysMs: RETRY_DELAYS_MS,
      autoDisableAfter: 20,
      maxSubscriptions: 1000,
      leaseMs: 30_000,
    },
    cancelling: createCancelling({ db, clock }),
    ...NO_DISPATCHER,
    ...overrides,
  });
  return { deps, clock, claim: () => claimAll(deps), deliverDue };

  /** Delivers until nothing is due, a round of claims at a time. Returns the number of attempts. */
  async function deliverDue(answer: Answer): Promise<number> {
    for (let attempts = 0; ;) {
      const claims = await claimAll(deps);
      if (claims.length === 0) return attempts;
      attempts += claims.length;
      await attemptAll(deps, claims, answer);
    }
  }
}

/** Claims everything that is due. */
export async function claimAll(deps: Dependencies): Promise<Claim[]> {
  const { due } = await listDueSubscriptions(deps.db, {
    now: deps.clock(),
    after: null,
    limit: 1000,
  });
  const quotas = due.map(({ subscriptionId }) => ({ subscriptionId, quota: 1000 }));
  const { claims } = await claimDeliveries(deps, { quotas, limit: 1000 * quotas.length });
  await deps.cancelling.restCancelled();
  return claims;
}

/** Makes the attempts, one after the other, and records them in one batch. */
export async function attemptAll(
  deps: Dependencies,
  claims: Claim[],
  answer: Answer,
  onEnded = (): void => undefined,
) {
  const ended: Attempt[] = [];
  const deliver = createDeliverer({
    send: async (post) => answer(post),
    clock: deps.clock,
    record: (one) => {
      ended.push(one);
      return Promise.resolve();
    },
    postpone: (claim) => postpone(deps, [claim]),
    defer: (claim) => postpone(deps, [claim], DEFERRED_DELAY_MS),
    onInternalFault: () => undefined,
    onEnded,
  });
  for (const claim of claims) await (await deliver(claim)).recorded;
  return recordAttempts(deps, ended);
}

let organizations = 0;

export async function anOrganization(deps: Dependencies): Promise<string> {
  return (await createOrganization(deps, { slug: `org-${++organizations}` })).id;
}

/** An active subscription, as its partner created it. */
export async function aSubscription(
  deps: Dependencies,
  organizationId?: string,
  url = "https://receiver.example/hooks",
) {
  const open = { ...deps, checkDestination: () => Promise.resolve(ANYWHERE) };
  return createSubscription(open, organizationId ?? (await anOrganization(deps)), {
    url,
    events: ["vc.test.ping"],
  });
}

export const ANYWHERE: Vetted = {
  ok: true,
  destination: {
    url: "https://receiver.example/hooks",
    host: "receiver.example",
    port: 443,
    path: "/hooks",
    hostHeader: "receiver.example",
    address: null,
  },
  addresses: ["192.0.2.1"],
};

/** An engine, and a new organization with one subscription, to which `waiting` deliveries are due. */
export async function anEngineWith(db: Database, waiting = 0) {
  const engine = await createEngine(db);
  const organization = await anOrganization(engine.deps);
  const { id, secret } = await aSubscription(engine.deps, organization);
  await publish(engine.deps, organization, waiting);
  return { ...engine, organization, id, secret };
}

/** Publishes `count` events of the organization, each in its own transaction. */
export async function publish(deps: Dependencies, organizationId: string, count = 1) {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    const data = JSON.stringify({ message: `event ${i}` });
    const event = { organizationId, type: "vc.test.ping", data };
    const published = await deps.db.begin((tx) => publishEvents(deps, tx, [event]));
    ids.push(...published.map(({ eventId }) => eventId));
  }
  return ids;
}
