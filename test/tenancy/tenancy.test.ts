import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import fc from "fast-check";
import { publicId } from "../../src/lib/ids.ts";
import { listDueSubscriptions } from "../../src/subjects/deliveries/claims-sql.ts";
import { claimDeliveries } from "../../src/subjects/deliveries/claims.ts";
import { ERA } from "../support/clock.ts";
import { createDatabase } from "../support/database.ts";
import { acknowledged, attemptAll, refused } from "../support/engine.ts";
import { startOperatorApi } from "../support/operator-api.ts";
import { startPartnerApi } from "../support/partner-api.ts";
import { renamed } from "./names.ts";
import { Partner } from "./partner.ts";
import { type Moment, story } from "./story.ts";

/**
 * The number of stories. `TENANCY_RUNS=1000 TENANCY_SEED=1 npm test -- tenancy` runs more and
 * different ones.
 */
const RUNS = Number(process.env["TENANCY_RUNS"] ?? 12);
const SEED = Number(process.env["TENANCY_SEED"] ?? 8);

const SECOND_MS = 1_000;
const REQUESTS_A_MINUTE = 25;

test("no response, count or audit of an organization depends on another organization", async (t) => {
  const play = await aWorld(t);
  let answers = 0;
  const independent = fc.asyncProperty(story, async (moments) => {
    const alone = await play(moments, { withOthers: false });
    const together = await play(moments, { withOthers: true });
    assert.deepEqual(renamed(together), renamed(alone));
    answers += alone.asked;
  });
  await fc.assert(independent, { numRuns: RUNS, seed: SEED });
  t.diagnostic(`${answers} answers compared`);
});

/**
 * Returns a function that plays a story for two new organizations, or for one. It returns everything that the
 * first one sees.
 */
async function aWorld(t: TestContext) {
  const db = await createDatabase();
  const api = startPartnerApi(t, db, {
    rules: {
      retryDelaysMs: [1_300, 3_700], // Never due at the same time as anything else.
      autoDisableAfter: 4,
      maxSubscriptions: 3,
      leaseMs: 30_000,
    },
  });
  const { deps, clock } = api;
  const operators = startOperatorApi(t, deps);

  return async (moments: Moment[], { withOthers }: { withOthers: boolean }) => {
    await db`delete from waiting_deliveries`; // From the previous run.
    clock.advance(ERA.getTime() - clock().getTime());
    const us = await aPartner();
    const others = withOthers ? await aPartner() : null;

    for (const { ours, others: theirs, refuses } of moments) {
      // Simultaneous, so that both are in the same statements.
      await Promise.all([
        ours && us.do(ours, others),
        theirs && others ? others.do(theirs, us) : null,
      ]);
      if (refuses !== null) await deliver(us.key.organizationId, refuses);
      clock.advance(SECOND_MS);
    }
    return {
      asked: us.answers.length,
      answers: us.answers,
      operators: await seenByOperators(us.key.organizationId),
    };
  };

  async function aPartner(): Promise<Partner> {
    const organization = await api.anOrganization({ rateLimitPerMinute: REQUESTS_A_MINUTE });
    return new Partner(api, await api.aKeyOf(organization, "webhooks:manage"));
  }

  /** Makes one attempt for each subscription with a due delivery, and records all in one batch. */
  async function deliver(ours: string, refuses: boolean): Promise<void> {
    const { due } = await listDueSubscriptions(db, { now: clock(), after: null, limit: 100 });
    const quotas = due.map(({ subscriptionId }) => ({ subscriptionId, quota: 1 }));
    const { claims } = await claimDeliveries(deps, { quotas, limit: quotas.length });
    const owned = await db<{ id: string }[]>`
      select id from subscriptions where organization_id = ${ours}`;
    const isOurs = ({ id }: { id: string }) => owned.some((row) => row.id === id);
    const byEvent = new Map(
      claims.map((claim) => [publicId("evt", claim.eventId), claim.subscriptionId]),
    );
    await attemptAll(deps, claims, ({ eventId }) =>
      isOurs({ id: byEvent.get(eventId) ?? "" }) === refuses ? refused : acknowledged,
    );
  }

  async function seenByOperators(organizationId: string): Promise<unknown[]> {
    const query = `organization=${publicId("org", organizationId)}&limit=200`;
    const lists = ["deliveries", "subscriptions", "keys"].map((list) =>
      operators.ask({ url: `${list}?${query}` }),
    );
    return (await Promise.all(lists)).map(({ status, body }) => [status, body]);
  }
}
