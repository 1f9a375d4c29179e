import assert from "node:assert/strict";
import { after } from "node:test";
import { runRedelivery } from "../../src/jobs/redelivery.ts";
import { publicId } from "../../src/lib/ids.ts";
import type { RedeliveryView } from "../../src/subjects/redeliveries/work.ts";
import { createDatabase } from "./database.ts";
import { aSubscription, createEngine, publish, refused } from "./engine.ts";
import { startOperatorApi } from "./operator-api.ts";

type Subscription = Awaited<ReturnType<typeof aSubscription>>;

/** The operator API on an engine with one attempt for each delivery, and jobs whose runs the test starts. */
export async function createRedeliveries() {
  const { deps, clock, deliverDue } = await createEngine(await createDatabase(), {
    rules: {
      retryDelaysMs: [],
      autoDisableAfter: 10_000,
      maxSubscriptions: 1_000,
      leaseMs: 30_000,
    },
  });
  const { ask, subjectsOf } = startOperatorApi({ after }, deps);
  const post = async (body: object) => ask({ method: "POST", url: "redeliveries", body });
  return { deps, clock, deliverDue, deadLetters, runAll, ask, subjectsOf, post, begin, get, set };

  /** A subscription with this number of dead letters. */
  async function deadLetters(count: number, organizationId?: string): Promise<Subscription> {
    const subscription = await aSubscription(deps, organizationId);
    await publish(deps, subscription.organizationId, count);
    await deliverDue(() => refused);
    clock.advance(1_000);
    return subscription;
  }

  /** Runs the job, a second apart, until none is left. */
  async function runAll(): Promise<void> {
    for (;;) {
      const open = await deps.db`
        select from redelivery_jobs where state in ('queued', 'running') and finished_at is null`;
      if (open.length === 0) return;
      await runRedelivery(deps);
      clock.advance(1_000);
    }
  }

  async function begin(body: object): Promise<RedeliveryView> {
    const { status, body: made } = await post(body);
    assert.equal(status, 202, JSON.stringify(made));
    return made as RedeliveryView;
  }

  async function get(id: string): Promise<RedeliveryView> {
    return (await ask({ url: `redeliveries/${id}` })).body as RedeliveryView;
  }

  function set(id: string, state: string) {
    return ask({ method: "PATCH", url: `redeliveries/${id}`, body: { state } });
  }
}

export const wh = ({ id }: Pick<Subscription, "id">) => publicId("wh", id);
export const org = ({ organizationId: id }: Pick<Subscription, "organizationId">) =>
  publicId("org", id);

export const countsOf = ({ state, total, done, skipped, failed }: RedeliveryView) =>
  `${state}: ${done} of ${total} done, ${skipped} skipped, ${failed} failed`;

export const codeOf = ({ body }: { body: unknown }) => (body as { code: string }).code;
