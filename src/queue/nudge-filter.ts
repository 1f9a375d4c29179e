import type { ProcessId } from "../lib/ids.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { addresseeOf, decodeNudge, type DueSubscription } from "./rules.ts";

type Accepting = Pick<Dispatcher, "accept" | "acceptsNudges" | "isFull">;

/** Nudges that are read in a window. An honest process sends at most one in each. */
const ACCEPTED_MAX = 20;
const WINDOW_MS = 20;

/**
 * Passes the nudges of other processes to the dispatcher. Any role of the database can send any number of them, so it ignores
 * those beyond a bound. Polls find the deliveries of ignored nudges.
 */
export class NudgeFilter {
  readonly #dispatcher: Accepting;
  readonly #self: ProcessId;
  readonly #passOn: (due: DueSubscription[]) => void;
  readonly #elapsedMs: () => number;
  #windowBeganMs = -Infinity;
  #accepted = 0;

  /** `passOn` tells all dispatchers what was for this one (`self`), which has no slot for it. */
  constructor(
    dispatcher: Accepting,
    {
      self,
      passOn,
      elapsedMs = () => performance.now(),
    }: {
      self: ProcessId;
      passOn: (due: DueSubscription[]) => void;
      elapsedMs?: () => number;
    },
  ) {
    this.#dispatcher = dispatcher;
    this.#self = self;
    this.#passOn = passOn;
    this.#elapsedMs = elapsedMs;
  }

  accept(nudge: string): void {
    const addressee = addresseeOf(nudge);
    const isForAnother = addressee !== null && addressee !== this.#self;
    if (isForAnother || !this.#isWithinBound()) return;
    const { acceptsNudges, isFull } = this.#dispatcher;
    const due = decodeNudge(nudge);
    if (acceptsNudges) this.#dispatcher.accept(due);
    if (addressee !== null && (isFull || !acceptsNudges)) this.#passOn(due);
  }

  #isWithinBound(): boolean {
    const now = this.#elapsedMs();
    if (now >= this.#windowBeganMs + WINDOW_MS) {
      this.#windowBeganMs = now;
      this.#accepted = 0;
    }
    return ++this.#accepted <= ACCEPTED_MAX;
  }
}
