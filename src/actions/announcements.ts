import { type DueSubscription, encodeNotice, NOTICE_MAX } from "../domain/due-notice.ts";
import type { OrganizationId, SubscriptionId } from "../domain/ids.ts";
import { type Addressees, PACE_MS } from "./addressees.ts";

/** The most subscriptions that wait for a notice. A poll finds the others. */
const WAITING_MAX = 10_000;

/**
 * Tells other processes which subscriptions have something due. It sends one notice at a time: the first of a burst soon, the
 * next ones at a pace. It does not repeat a notice that failed, because a poll finds its subscriptions.
 */
export class Announcements {
  readonly #send: (notice: string) => Promise<unknown>;
  readonly #addressees: Pick<Addressees, "next" | "paceMs"> | null;
  readonly #waiting = new Map<SubscriptionId, OrganizationId>();
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #nextMs = 0;

  /** `addressees` choose the process that the next notice is for. Null: all. */
  constructor(
    send: (notice: string) => Promise<unknown>,
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
      if (due.length === NOTICE_MAX) break;
      due.push({ subscriptionId, organizationId });
      this.#waiting.delete(subscriptionId);
    }
    const addressee = this.#addressees?.next() ?? null;
    await this.#send(encodeNotice(due, addressee)).catch(() => undefined);
  }
}
