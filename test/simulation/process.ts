import assert from "node:assert/strict";
import type { Clock } from "../../src/lib/clock.ts";
import { createDeliverer } from "../../src/queue/deliver.ts";
import type { Post } from "../../src/queue/sender.ts";
import type { Attempt, Claim, Outcome } from "../../src/subjects/deliveries/rules.ts";

interface SingleFlight {
  claim: Claim;
  startedAt: number;
  end: (outcome: Outcome) => Promise<void>;
}

interface Outside {
  /** The order in which simultaneous claims are attempted, so that a story can be repeated. */
  rank: (claim: Claim) => number;
  send: (claim: Claim) => void;
}

/** The memory of one process of the service, which a crash clears. */
export class Process {
  readonly clock: Clock;
  inFlight: SingleFlight[] = [];
  /** Attempts that ended and are not recorded yet, in order. */
  ended: Attempt[] = [];
  /** Claims that were not attempted because of an internal fault. */
  kept: Claim[] = [];
  readonly #world: Outside;

  constructor(clock: Clock, world: Outside) {
    this.clock = clock;
    this.#world = world;
  }

  get now(): number {
    return this.clock().getTime();
  }

  crash(): void {
    this.inFlight = [];
    this.ended = [];
    this.kept = [];
  }

  async begin(claims: Claim[]): Promise<void> {
    const { rank } = this.#world;
    for (const claim of claims.toSorted((a, b) => rank(a) - rank(b))) await this.#begin(claim);
  }

  /** Ends up to `count` attempts whose outcome is known by now, in order. */
  async end(count: number, outcomeOf: (claim: Claim, ms: number) => Outcome | null): Promise<void> {
    let left = count;
    for (const attempt of [...this.inFlight]) {
      if (left === 0) return;
      const outcome = outcomeOf(attempt.claim, this.now - attempt.startedAt);
      if (outcome === null) continue;
      this.inFlight.splice(this.inFlight.indexOf(attempt), 1);
      await attempt.end(outcome);
      left--;
    }
  }

  async #begin(claim: Claim): Promise<void> {
    let resolve: (outcome: Outcome) => void = () => undefined;
    const outcome = new Promise<Outcome>((keep) => (resolve = keep));
    const posts: Post[] = [];
    const deliver = createDeliverer({
      send: (post) => {
        posts.push(post);
        return outcome;
      },
      clock: this.clock,
      record: (ended) => Promise.resolve(void this.ended.push(ended)),
      postpone: (one) => Promise.resolve(void this.kept.push(one)),
      defer: () => Promise.reject(new Error("nothing is deferred in a simulation")),
      onInternalFault: () => undefined,
      onEnded: () => undefined,
    });

    const delivered = deliver(claim);
    const isSent = posts.length === 1;
    assert.equal(isSent, claim.lostLeases < 5, "after five lost leases, the attempt is not sent");
    if (!isSent) {
      await delivered;
      return;
    }
    this.#world.send(claim);
    const end = async (come: Outcome) => {
      resolve(come);
      await (
        await delivered
      ).recorded;
    };
    this.inFlight.push({ claim, startedAt: this.now, end });
  }
}
