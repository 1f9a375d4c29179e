import type { Wanted } from "../actions/claims.ts";
import type { Due } from "./due.ts";
import { JoinedQueue } from "./joined-queue.ts";

/** The turns of dispatchers that share the slots of a process: one for each shard. */
export class Turns {
  readonly #share: (queue: Due | JoinedQueue) => Wanted;
  /** The queues of the dispatchers that wait for a slot. */
  readonly #waiting = new Set<Due>();

  constructor(share: (queue: Due | JoinedQueue) => Wanted) {
    this.#share = share;
  }

  /** Returns what to claim for one queue, so that the organizations of all queues that wait for slots take turns. */
  take(queue: Due): Wanted {
    if (queue.size === 0) return this.#share(queue);
    this.#waiting.add(queue);
    const wanted = this.#waiting.size === 1 ? this.#share(queue) : partOf(queue, this.#ofAll());
    if (wanted.shares.length > 0) this.#waiting.delete(queue);
    return wanted;
  }

  /** The queue's dispatcher cannot claim now. So it keeps no other one waiting. */
  leave(queue: Due): void {
    this.#waiting.delete(queue);
  }

  /** Slots are free. Wakes the other dispatchers that would get some now. */
  tellOthers(own: Due): void {
    if (this.#waiting.size === Number(this.#waiting.has(own))) return;
    const wanted = this.#ofAll();
    for (const queue of this.#waiting)
      if (queue !== own && partOf(queue, wanted).shares.length > 0) queue.wakeUp.set();
  }

  #ofAll(): Wanted {
    return this.#share(new JoinedQueue([...this.#waiting]));
  }
}

/** Returns the wishes of one queue, and the number of slots for its turns among all. */
function partOf(queue: Pick<Due, "knows">, { shares, limit }: Wanted): Wanted {
  const own: Wanted = { shares: [], limit: 0 };
  let left = limit;
  for (const wanted of shares) {
    const slots = Math.min(wanted.share, left);
    if (slots === 0) break;
    left -= slots;
    if (!queue.knows(wanted.subscriptionId)) continue;
    own.shares.push(wanted);
    own.limit += slots;
  }
  return own;
}
