import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { Database } from "../../src/postgres/database.ts";
import { createDependencies } from "../../src/subjects/create-dependencies.ts";
import { createCancelling } from "../../src/subjects/deliveries/cancellation.ts";
import { type Claim, RETRY_DELAYS_MS } from "../../src/subjects/deliveries/rules.ts";
import type { Dependencies } from "../../src/subjects/dependencies.ts";
import { NO_DISPATCHER } from "../../src/subjects/events/publish.ts";
import { createClock } from "../support/clock.ts";
import { anOrganization, aSubscription } from "../support/engine.ts";
import type { Act, Effect, Subscribed } from "./acts.ts";
import { differences } from "./differences.ts";
import { breakOff, Broken, holdUp } from "./interleave.ts";
import { checkInvariants } from "./invariants.ts";
import { Process } from "./process.ts";
import { type Behaviour, outcomeAfter } from "./receivers.ts";
import { readState } from "./snapshot.ts";
import { emptyState, isWaiting, of, type State } from "./state.ts";
import { watched } from "./watched.ts";

/** The real service on its database, simulated receivers, and the contract's state. */
export class World {
  readonly organizations: string[] = [];
  readonly subscriptions: Subscribed[] = [];
  readonly processes: Process[];
  /** The state according to the contract. After each act, the tables must equal it. */
  state: State = emptyState();
  /** The ids of all deliveries, in an order that does not depend on ids. */
  readonly deliveries: string[] = [];
  sent = 0;

  readonly #db: Database;
  readonly #clock = createClock();
  readonly #behaviours = new Map<string, Behaviour>();
  readonly #bodies = new Map<string, string>();
  #answered = 0;
  readonly #acknowledged = new Set<string>();
  readonly #ring = [{ id: "test", key: randomBytes(32) }] as const;

  constructor(db: Database, skews: number[]) {
    this.#db = db;
    this.processes = skews.map((skew) => {
      const clock = () => new Date(this.#clock().getTime() + skew);
      return new Process(clock, {
        rank: (claim) => this.#rank(claim),
        send: (claim) => {
          this.#send(claim);
        },
      });
    });
  }

  async open(): Promise<void> {
    await this.#db`delete from waiting_deliveries`;
    for (const subscriptions of [2, 1]) {
      const organization = await anOrganization(this.#depsOf());
      this.organizations.push(organization);
      for (let i = 0; i < subscriptions; i++) await this.subscribe(organization);
    }
  }

  async subscribe(organization: string): Promise<void> {
    const { id, secret } = await aSubscription(this.#depsOf(), organization);
    this.subscriptions.push({ id, organization, secret });
    await this.#expect([
      ({ subscriptions }) => {
        subscriptions[id] = {
          organization,
          status: "active",
          failures: 0,
          disabledAt: null,
          held: false,
        };
      },
    ]);
  }

  behave(subscription: string, does: Behaviour): void {
    this.#behaviours.set(subscription, does);
  }

  isDeleted(subscription: string): boolean {
    return of(this.state.subscriptions, subscription).status === "deleted";
  }

  isHeld(subscription: string): boolean {
    return of(this.state.subscriptions, subscription).held;
  }

  wait(ms: number): void {
    this.#clock.advance(ms);
  }

  /** Waits until something is due by the process's clock. Returns false if nothing waits. */
  waitForDue(process: Process): boolean {
    const waiting = Object.values(this.state.deliveries)
      .filter((delivery) => isWaiting(delivery))
      .filter(({ subscription }) => !this.isHeld(subscription));
    if (waiting.length === 0) return false;
    const earliest = Math.min(...waiting.map(({ due, until }) => Math.max(due, until ?? 0)));
    this.wait(Math.max(0, earliest - process.now));
    return true;
  }

  /** Ends attempts with the current behaviour of their receivers. */
  async answer(process: Process, count: number): Promise<void> {
    await process.end(count, ({ id, subscriptionId: subscription_id }, ms) => {
      const behaviour = this.#behaviours.get(subscription_id) ?? "acknowledge";
      const outcome = outcomeAfter(behaviour, this.#answered, ms);
      if (outcome) this.#answered++;
      if (outcome?.kind === "acknowledged") this.#acknowledged.add(id);
      return outcome;
    });
  }

  async do(process: Process, act: Act): Promise<void> {
    const effect = await act.run(this.#depsOf(process));
    await this.#expect([inTurn(this.state, effect)]);
  }

  async breakOff(process: Process, act: Act, at: number): Promise<void> {
    const done = await breakOff((pass) => act.run(this.#depsOf(process, pass)), at);
    await this.#expect(this.#outcomes(act, done).map((effect) => inTurn(this.state, effect)));
  }

  async holdUp(
    { process, act, at, breaks }: { process: Process; act: Act; at: number; breaks: boolean },
    meanwhile: { process: Process; act: Act },
  ): Promise<void> {
    const [done, other] = await holdUp(
      this.#db,
      (pass) => act.run(this.#depsOf(process, pass)),
      { at, breaks },
      () => meanwhile.act.run(this.#depsOf(meanwhile.process)),
    );
    await this.#expect(
      this.#outcomes(act, done).flatMap((effect) => inSomeOrder(this.state, effect, other)),
    );
  }

  /** Checks that every accepted delivery has ended. */
  checkNothingLost(): void {
    for (const [id, { state, subscription }] of Object.entries(this.state.deliveries)) {
      const { status } = of(this.state.subscriptions, subscription);
      assert.notEqual(state, "waiting", `${id} was lost`);
      if (state === "delivered") assert.ok(this.#acknowledged.has(id), `${id} never arrived`);
      if (state === "cancelled")
        assert.notEqual(status, "active", `${id} was cancelled by no rule`);
    }
  }

  /** The possible effects of the act. */
  #outcomes(act: Act, done: Effect | Broken): Effect[] {
    if (!(done instanceof Broken)) return [done];
    act.undo?.();
    return [() => undefined, ...(act.remains?.(this.state) ?? [])];
  }

  /** Checks that the tables equal the state after one of these changes. */
  async #expect(alternatives: ((state: State, seen: State) => void)[]): Promise<void> {
    const seen = await readState(this.#db, this.organizations);
    checkInvariants(seen);

    const faults: string[] = [];
    for (const change of alternatives) {
      const state = structuredClone(this.state);
      try {
        change(state, seen);
        const found = differences(seen, state);
        if (found.length > 0) throw new Error(found.join("\n"));
        this.state = state;
        this.#noteDeliveries();
        return;
      } catch (error) {
        faults.push((error as Error).message);
      }
    }
    faults.sort((a, b) => a.length - b.length);
    throw new Error(faults[0]);
  }

  #noteDeliveries(): void {
    const known = new Set(this.deliveries);
    const rank = (id: string) => {
      const { subscription } = of(this.state.deliveries, id);
      return this.subscriptions.findIndex((one) => one.id === subscription);
    };
    const added = Object.keys(this.state.deliveries).filter((id) => !known.has(id));
    this.deliveries.push(...added.sort((a, b) => rank(a) - rank(b)));
  }

  /** The position of a claim in an order that does not depend on ids. */
  #rank({ id, subscriptionId: subscription_id }: Claim): number {
    const place = this.deliveries.indexOf(id);
    if (place >= 0) return place;
    const index = this.subscriptions.findIndex((one) => one.id === subscription_id);
    return this.deliveries.length + index;
  }

  #send({ id, body, subscriptionId: subscription_id, signingSecret }: Claim): void {
    const { secret } = this.subscriptions.find((one) => one.id === subscription_id) ?? {};
    assert.equal(signingSecret, secret, "signed with the subscription's own secret");
    const bytes = body.toString();
    assert.equal(bytes, this.#bodies.get(id) ?? bytes, "the same bytes at every attempt");
    this.#bodies.set(id, bytes);
    this.sent++;
  }

  #depsOf(process = this.processes[0], pass?: () => Promise<void>): Dependencies {
    assert.ok(process);
    const db = pass ? watched(this.#db, pass) : this.#db;
    return createDependencies({
      db,
      clock: process.clock,
      ring: this.#ring,
      checkDestination: () => Promise.reject(new Error("not looked up in a simulation")),
      rules: {
        ...{ retryDelaysMs: RETRY_DELAYS_MS, autoDisableAfter: 20 },
        ...{ maxSubscriptions: 1000, leaseMs: 30_000 },
      },
      cancelling: createCancelling({ db, clock: process.clock }),
      ...NO_DISPATCHER,
    });
  }
}

type Change = (state: State, seen: State) => void;

function inTurn(before: State, effect: Effect): Change {
  return (state, seen) => {
    effect(state, { seen, before, isContested: false });
  };
}

/** The effects in either order. The second act may also have seen the state before the first. */
function inSomeOrder(before: State, one: Effect, other: Effect): Change[] {
  const after = (first: Effect, second: Effect): Change[] => [
    (state, seen) => {
      first(state, { seen, before, isContested: true });
      second(state, { seen, before: structuredClone(state), isContested: true });
    },
    (state, seen) => {
      first(state, { seen, before, isContested: true });
      second(state, { seen, before, isContested: true });
    },
  ];
  return [...after(one, other), ...after(other, one)];
}
