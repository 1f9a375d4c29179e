import assert from "node:assert/strict";
import { type ErrorCode, PartnerError } from "../../src/lib/errors.ts";
import { createDependencies } from "../../src/subjects/create-dependencies.ts";
import { postpone, recordAttempts } from "../../src/subjects/deliveries/attempts.ts";
import { type Attempt, auditOf, type Claim } from "../../src/subjects/deliveries/rules.ts";
import { attemptNow } from "../../src/subjects/deliveries/waiting.ts";
import type { Dependencies } from "../../src/subjects/dependencies.ts";
import { publish } from "../../src/subjects/events/publish.ts";
import type { NewEvent } from "../../src/subjects/events/rules.ts";
import { sendTestEvent } from "../../src/subjects/events/work.ts";
import { redeliver } from "../../src/subjects/redeliveries/work.ts";
import { changeSubscription, deleteSubscription } from "../../src/subjects/subscriptions/work.ts";
import * as contract from "./contract.ts";
import type { Process } from "./process.ts";
import { isActive, isWaiting, of, type State } from "./state.ts";

/** A request to the service. */
export interface Act {
  /** Runs it and returns its required effect. */
  run: (deps: Dependencies) => Promise<Effect>;
  /** The possible effects if it was broken off, besides none. */
  remains?: (state: State) => Effect[];
  /** Returns the things taken for it, because it was broken off. */
  undo?: () => void;
}

/** Changes the state according to the contract. */
export type Effect = (state: State, context: Context) => void;

export interface Context {
  /** The tables afterwards, for ids that only the service knows. */
  seen: State;
  /** The state at the start. Another act may have happened since. */
  before: State;
  /** True if another act ran at the same time. A claim may then skip rows that it locks. */
  isContested: boolean;
}

/** A subscription as its partner sees it. */
export interface Subscribed {
  id: string;
  organization: string;
  secret: string;
}

export function recording(process: Process, count: number, { forget = false } = {}): Act {
  const batch = process.ended.splice(0, count);
  const giveBack = () => void process.ended.unshift(...batch);
  return {
    run: async (deps) => {
      const { disabled } = await recordAttempts(deps, batch);
      if (forget) giveBack(); // Acts as if the database's response was lost.
      return (state) => {
        const active = Object.keys(state.subscriptions).filter((id) => isActive(state, id));
        contract.record(state, batch.map(told));
        const gone = active.filter((id) => !isActive(state, id));
        assert.deepEqual([...disabled].sort(), gone.sort(), "disabled subscriptions are returned");
      };
    },
    undo: giveBack,
    remains: (state) => {
      const parts = new Map<string, contract.Told[]>();
      for (const one of batch.map(told)) {
        const { subscription, lease } = of(state.deliveries, one.delivery);
        const part = `${subscription} ${lease === one.lease}`;
        parts.set(part, [...(parts.get(part) ?? []), one]);
      }
      return subsetsOf([...parts.values()]).map((subset) => (state) => {
        contract.record(state, subset.flat());
      });
    },
  };
}

function told({ claim, outcome, startedAt, endedAt }: Attempt): contract.Told {
  return {
    ...auditOf(outcome),
    delivery: claim.id,
    lease: claim.leaseId,
    startedAt: startedAt.getTime(),
    endedAt: endedAt.getTime(),
  };
}

function subsetsOf<Item>(items: Item[]): Item[][] {
  return items.reduce<Item[][]>((all, item) => all.flatMap((one) => [one, [...one, item]]), [[]]);
}

export function postponing(process: Process): Act {
  const claims = process.kept.splice(0);
  return {
    run: async (deps) => {
      const now = process.now;
      await postpone(deps, claims);
      return (state) => {
        for (const { id, leaseId } of claims) contract.postpone(state, id, leaseId, now);
      };
    },
    undo: () => void process.kept.unshift(...claims),
  };
}

/** Publishes an event for each key, in one transaction of the caller's or, if `alone`, of the service's own. */
export function publishing(
  organizationId: string,
  keys: (number | null)[],
  { alone }: { alone: boolean },
): Act {
  const events = keys.map((key): NewEvent => {
    const event = { organizationId, type: "vc.test.ping", data: '{"message":"hello"}' };
    return key === null ? event : { ...event, dedupeKey: `key-${key}` };
  });
  return {
    run: async (deps) => {
      const now = deps.clock().getTime();
      const published = alone
        ? await deps.batched.publishAll(events)
        : await deps.db.begin((tx) => publish(deps, tx, events));
      const to = (before: State) => contract.subscribersOf(before, organizationId);
      return (state, context) => {
        published.forEach(({ eventId, isDuplicate }, i) => {
          const key = events[i]?.dedupeKey;
          const id = `${organizationId} ${key}`;
          const first = key === undefined ? null : contract.takeKey(state, id, eventId, now);
          assert.equal(isDuplicate, first !== null, `${id} has one event`);
          if (first === null) accepted(eventId, now, to)(state, context);
          else assert.equal(eventId, first, "a duplicate names the first event");
        });
      };
    },
  };
}

/**
 * `slots`: the spare slots of the process. With a spare slot, the delivery is written with its lease and
 * attempted at once.
 */
export function pinging(process: Process, to: Subscribed, slots: number): Act {
  return {
    run: async (parts) => {
      const claims: Claim[] = [];
      const end = (early: Claim[]) => void claims.push(...early);
      const deps = createDependencies({ ...parts, reserve: () => ({ slots, except: [], end }) });
      const now = deps.clock().getTime();
      const answer = await answerOf(sendTestEvent(deps, to.organization, to));
      await process.begin(claims);
      if (answer.ok) return pinged(to.id, answer.value, claims, now);
      return (_state, { before }) => {
        const { status } = of(before.subscriptions, to.id);
        const code = status === "deleted" ? "not_found" : "subscription_inactive";
        assert.deepEqual([status === "active", answer.code], [false, code]);
      };
    },
  };
}

function pinged(subscription: string, event: string, claims: Claim[], now: number): Effect {
  const to = (before: State) => (isActive(before, subscription) ? [subscription] : []);
  const leases = Object.fromEntries(claims.map((claim) => [claim.id, claim.leaseId]));
  return (state, context) => {
    accepted(event, now, to)(state, context);
    contract.claim(state, leases, now);
  };
}

function accepted(event: string, now: number, to: (before: State) => string[]): Effect {
  return (state, { seen, before }) => {
    const deliveries = Object.entries(seen.deliveries).filter(([, d]) => d.event === event);
    const ids = Object.fromEntries(deliveries.map(([id, d]) => [d.subscription, id]));
    assert.equal(deliveries.length, Object.keys(ids).length, "one delivery for each subscription");
    // The statements of a transaction may see another transaction before and after its commit.
    const allowed = [before, state].map((one) => to(one).sort().join());
    assert.ok(
      allowed.includes(Object.keys(ids).sort().join()),
      "an event goes to all subscriptions",
    );
    contract.accept(state, ids, event, now);
  };
}

export function deleting({ organization, id: subscription }: Subscribed): Act {
  return {
    run: async (deps) => {
      const answer = await answerOf(deleteSubscription(deps, organization, subscription));
      return (state) => {
        const isThere = of(state.subscriptions, subscription).status !== "deleted";
        assert.deepEqual(
          answer,
          isThere ? { ok: true, value: undefined } : { ok: false, code: "not_found" },
        );
        if (isThere) contract.remove(state, subscription);
      };
    },
  };
}

export function redelivering(delivery: string): Act {
  return {
    run: async (deps) => {
      const now = deps.clock().getTime();
      const answer = await answerOf(redeliver(deps, delivery));
      return (state, { before }) => {
        const { state: was, subscription, event } = of(before.deliveries, delivery);
        if (answer.ok) {
          assert.ok(was === "dead_lettered" || was === "cancelled");
          assert.ok(isActive(before, subscription));
          contract.accept(state, { [subscription]: answer.value.id }, event, now);
        } else if (answer.code === "subscription_inactive") {
          assert.ok(!isActive(before, subscription));
        } else {
          assert.equal(answer.code, "not_redeliverable");
          assert.ok(was === "waiting" || was === "delivered");
        }
      };
    },
  };
}

export function holding({ id }: Subscribed, held: boolean): Act {
  const done: Effect = (state) => {
    contract.hold(state, id, held);
  };
  return {
    run: async (deps) => {
      const answer = await answerOf(changeSubscription(deps, id, { held }));
      if (answer.ok) return done;
      return (state) => {
        const { status } = of(state.subscriptions, id);
        const code = status === "deleted" ? "not_found" : "subscription_inactive";
        assert.deepEqual([status === "active", answer.code], [false, code]);
      };
    },
    remains: () => [done],
  };
}

export function attemptingNow(delivery: string): Act {
  const dueAt =
    (now: number): Effect =>
    (state) => {
      contract.attemptNow(state, delivery, now);
    };
  return {
    run: async (deps) => {
      const now = deps.clock().getTime();
      const answer = await answerOf(attemptNow(deps, delivery));
      if (answer.ok) return dueAt(now);
      return (state, { before }) => {
        const { subscription } = of(state.deliveries, delivery);
        const states = [before, state];
        const isOnce = (was: (one: State) => boolean) => assert.ok(states.some(was), answer.code);
        if (answer.code === "not_waiting") {
          isOnce((one) => !isWaiting(of(one.deliveries, delivery)));
        } else if (answer.code === "subscription_held") {
          isOnce((one) => of(one.subscriptions, subscription).held);
        } else {
          assert.equal(answer.code, "subscription_inactive");
          isOnce((one) => !isActive(one, subscription));
        }
      };
    },
    remains: () => [],
  };
}

type Answer<Value> = { ok: true; value: Value } | { ok: false; code: ErrorCode };

async function answerOf<Value>(asked: Promise<Value>): Promise<Answer<Value>> {
  try {
    return { ok: true, value: await asked };
  } catch (error) {
    if (!(error instanceof PartnerError)) throw error;
    return { ok: false, code: error.code };
  }
}
