import type { ProcessId } from "../lib/ids.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { addresseeOf, decodeNotice, type DueSubscription } from "./rules.ts";

type Hearer = Pick<Dispatcher, "hear" | "isHearing" | "isFull">;

/** Notices that are read in a turn. An honest process sends at most one in each. */
const HEARD_MAX = 20;
const TURN_MS = 20;

/**
 * Passes the notices of other processes to the dispatcher. Any role of the database can send any number of them, so it ignores
 * those beyond a bound. Polls find the deliveries of ignored notices.
 */
export class Hearing {
  readonly #dispatcher: Hearer;
  readonly #self: ProcessId;
  readonly #passOn: (due: DueSubscription[]) => void;
  readonly #elapsedMs: () => number;
  #turnAtMs = -Infinity;
  #heard = 0;

  /** `passOn` tells all dispatchers what was for this one (`self`), which has no slot for it. */
  constructor(
    dispatcher: Hearer,
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

  hear(notice: string): void {
    const addressee = addresseeOf(notice);
    const isForAnother = addressee !== null && addressee !== this.#self;
    if (isForAnother || !this.#isInTurn()) return;
    const { isHearing, isFull } = this.#dispatcher;
    const due = decodeNotice(notice);
    if (isHearing) this.#dispatcher.hear(due);
    if (addressee !== null && (isFull || !isHearing)) this.#passOn(due);
  }

  #isInTurn(): boolean {
    const now = this.#elapsedMs();
    if (now >= this.#turnAtMs + TURN_MS) {
      this.#turnAtMs = now;
      this.#heard = 0;
    }
    return ++this.#heard <= HEARD_MAX;
  }
}
