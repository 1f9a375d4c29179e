import { decodeNotice } from "../domain/due-notice.ts";
import type { Dispatcher } from "./dispatcher.ts";

/** Notices that are read in a turn. An honest process sends at most one in each. */
const HEARD_MAX = 20;
const TURN_MS = 20;

/**
 * Passes the notices of other processes to the dispatcher. Any role of the database can send any number of them, so it ignores
 * those beyond a bound. Polls find the deliveries of ignored notices.
 */
export class Hearing {
  readonly #dispatcher: Pick<Dispatcher, "hear" | "isHearing">;
  readonly #elapsedMs: () => number;
  #turnAtMs = -Infinity;
  #heard = 0;

  constructor(
    dispatcher: Pick<Dispatcher, "hear" | "isHearing">,
    elapsedMs: () => number = () => performance.now(),
  ) {
    this.#dispatcher = dispatcher;
    this.#elapsedMs = elapsedMs;
  }

  hear(notice: string): void {
    if (!this.#dispatcher.isHearing || !this.#isInTurn()) return;
    this.#dispatcher.hear(decodeNotice(notice));
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
