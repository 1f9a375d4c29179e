import { after, type Clock } from "../lib/clock.ts";
import type { OrganizationId, ProcessId, SubscriptionId } from "../lib/ids.ts";
import { inSpans } from "../lib/tracing.ts";
import type { Database, Queryable } from "../postgres/database.ts";
import type { Dependencies } from "../subjects/dependencies.ts";
import { NO_SLOTS, type Reservation } from "../subjects/events/publication.ts";
import { processStateAt, REPORT_MS, SILENT_MS } from "../subjects/processes/rules.ts";
import { listProcesses } from "../subjects/processes/sql.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { NudgeFilter } from "./nudge-filter.ts";
import { listenForNudges, sendNudge } from "./nudging-sql.ts";
import { decodeNudge, type DueSubscription, encodeNudge, NUDGE_MAX } from "./rules.ts";

/** A process sends at most 50 nudges a second. */
const PACE_MS = 20;
/** The workers of one service tell each other more, because their parent passes it on without the database. */
const WORKERS_PACE_MS = 2;
/** Fewer than four `api` processes send more: at most 200 nudges a second together. */
const SHARED_PACE_MS = 5;

/** The processes that the nudges of `api` processes come from and go to. */
interface Fleet {
  dispatchers: ProcessId[];
  /** The number of `api` processes. */
  senders: number;
}

/**
 * Chooses a dispatcher for each nudge, in turn. If every dispatcher got every nudge, all of them would claim the same
 * deliveries, and only one would get each.
 */
export class Addressees {
  readonly #read: () => Promise<Fleet>;
  #ids: ProcessId[] = [];
  #paceMs = PACE_MS;
  #nextIndex = 0;
  #oldAtMs = -Infinity;

  constructor(read: () => Promise<Fleet>) {
    this.#read = read;
  }

  /** The time between two nudges of this process. */
  get paceMs(): number {
    return this.#paceMs;
  }

  /** Returns null for all dispatchers. That is the answer while it reads which ones run. */
  next(): ProcessId | null {
    if (performance.now() >= this.#oldAtMs) this.#renew();
    return this.#ids[this.#nextIndex++ % this.#ids.length] ?? null;
  }

  #renew(): void {
    this.#oldAtMs = performance.now() + REPORT_MS;
    this.#ids = [];
    void this.#read().then(
      ({ dispatchers, senders }) => {
        this.#ids = dispatchers;
        this.#paceMs = Math.min(PACE_MS, SHARED_PACE_MS * Math.max(1, senders));
      },
      () => undefined, // All dispatchers get the nudges until the next time.
    );
  }
}

/** Returns the processes that run now. */
export async function readFleet(db: Queryable, clock: Clock): Promise<Fleet> {
  const now = clock();
  const seen = await listProcesses(db, after(now, -SILENT_MS));
  const running = seen.filter((one) => processStateAt(now, one) === "running");
  const dispatchers = running.filter(({ role }) => role !== "api").map(({ id }) => id);
  return { dispatchers, senders: running.length - dispatchers.length };
}

/** The most subscriptions that wait for a nudge. A poll finds the others. */
const WAITING_MAX = 10_000;

/**
 * Tells other processes which subscriptions have something due. It sends one nudge at a time: the first of a burst soon, the
 * next ones at a pace. It does not repeat a nudge that failed, because a poll finds its subscriptions.
 */
export class NudgeQueue {
  readonly #send: (nudge: string) => Promise<unknown>;
  readonly #addressees: Pick<Addressees, "next" | "paceMs"> | null;
  readonly #waiting = new Map<SubscriptionId, OrganizationId>();
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #nextMs = 0;

  /** `addressees` choose the process that the next nudge is for. Null: all. */
  constructor(
    send: (nudge: string) => Promise<unknown>,
    addressees: Pick<Addressees, "next" | "paceMs"> | null = null,
  ) {
    this.#send = send;
    this.#addressees = addressees;
  }

  /** Call it after the commit. */
  add(due: readonly DueSubscription[]): void {
    for (const { subscriptionId, organizationId } of due) {
      if (this.#waiting.size < WAITING_MAX) this.#waiting.set(subscriptionId, organizationId);
    }
    this.#schedule();
  }

  /** Sends the rest. Call `add` no more. */
  async stop(): Promise<void> {
    await this.#sending;
    clearTimeout(this.#timer);
    while (this.#waiting.size > 0) await this.#sendNext();
  }

  #schedule(): void {
    if (this.#sending || this.#timer || this.#waiting.size === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#sending = this.#sendNext().finally(() => {
        this.#sending = undefined;
        this.#schedule();
      });
    }, this.#nextMs - performance.now());
  }

  async #sendNext(): Promise<void> {
    this.#nextMs = performance.now() + (this.#addressees?.paceMs ?? PACE_MS);
    const due: DueSubscription[] = [];
    for (const [subscriptionId, organizationId] of this.#waiting) {
      if (due.length === NUDGE_MAX) break;
      due.push({ subscriptionId, organizationId });
      this.#waiting.delete(subscriptionId);
    }
    const addressee = this.#addressees?.next() ?? null;
    await this.#send(encodeNudge(due, addressee)).catch(() => undefined);
  }
}

type Nudged = Pick<Dispatcher, "nudge" | "accept" | "reserve" | "isFull" | "acceptsNudges">;

/** A slower nudge is abandoned. */
const SEND_MS = 1_000;

interface Nudging extends Pick<Dependencies, "nudge" | "reserve"> {
  /** Resolves when nudges are received. */
  listening: Promise<void>;
  stop: () => Promise<void>;
}

/** The other workers of one service. */
interface Siblings {
  tell: (nudge: string) => void;
  onNews: (accept: (nudge: string) => void) => void;
}

/**
 * Makes published deliveries start within milliseconds instead of at the next poll. Nudges the dispatcher of this process. If it
 * is full, nudges those of all other processes, and first its siblings. Without a dispatcher, each nudge is for one of them.
 */
export function startNudging(
  { db, clock }: { db: Database; clock: Clock },
  processId: ProcessId,
  dispatcher: Nudged | null,
  siblings: Siblings | null = null,
): Nudging {
  const inTime = () => db.within(SEND_MS);
  const send = (nudge: string) => sendNudge(inTime(), nudge);
  const addressees = new Addressees(() => readFleet(inTime(), clock));
  const outgoing = new NudgeQueue(send, dispatcher ? null : addressees);
  const passOn = (due: DueSubscription[]) => outgoing.add(due);
  const filter = dispatcher && new NudgeFilter(dispatcher, { self: processId, passOn });
  const listener = filter && listenForNudges(db, (nudge) => filter.accept(nudge));
  const amongSiblings = dispatcher && siblings && queueFor(siblings, dispatcher);
  return {
    nudge: (due) => {
      inSpans([], () => {
        dispatcher?.nudge(due);
        if (dispatcher?.isFull === false) return;
        amongSiblings?.add(due);
        outgoing.add(due);
      });
    },
    reserve: (organizations) => (dispatcher ? apart(dispatcher.reserve(organizations)) : NO_SLOTS),
    listening: listener?.listening ?? Promise.resolve(),
    stop: async () => {
      await amongSiblings?.stop();
      await outgoing.stop();
      await listener?.stop();
    },
  };
}

/** Siblings are trusted, so every nudge of theirs is accepted. */
function queueFor(siblings: Siblings, dispatcher: Nudged): NudgeQueue {
  siblings.onNews((nudge) => {
    if (dispatcher.acceptsNudges) dispatcher.accept(decodeNudge(nudge));
  });
  const send = (nudge: string) => {
    siblings.tell(nudge);
    return Promise.resolve();
  };
  return new NudgeQueue(send, { next: () => null, paceMs: WORKERS_PACE_MS });
}

/** The attempts that begin with a publication, and the records of their outcomes, are no part of its request's span. */
function apart({ slots, except, end }: Reservation): Reservation {
  return { slots, except, end: (claims) => inSpans([], () => end(claims)) };
}
