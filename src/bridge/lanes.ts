import type { BridgedEvent } from "./event.ts";
import type { Message } from "./source.ts";

/** A message on its way, with the event that it becomes. */
export interface Pending<Own extends Message> {
  message: Own;
  event: BridgedEvent;
  /** It is published or set aside, or another consumer has it. */
  isGone?: true;
}

interface Lane<Own extends Message> {
  waiting: Pending<Own>[];
  /** How often its head was sent in vain. */
  failures: number;
  /** Nothing of it is sent before. */
  dueMs: number;
}

/** The received messages that are not settled, by lane. */
export class Lanes<Own extends Message> {
  readonly #lanes = new Map<string, Lane<Own>>();
  /** Those of batches under way. */
  readonly #busy = new Set<string>();
  #isFailedTurn = false;
  readonly #held = new Set<Pending<Own>>();
  #bytes = 0;

  /** How many are held, with those that are published and not settled. */
  get size(): number {
    return this.#held.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(pending: Pending<Own>): void {
    const { lane: name } = pending.message;
    let lane = this.#lanes.get(name);
    if (!lane) this.#lanes.set(name, (lane = { waiting: [], failures: 0, dueMs: 0 }));
    lane.waiting.push(pending);
    this.#held.add(pending);
    this.#bytes += pending.event.bytes;
  }

  /**
   * Returns what may be sent at `nowMs`, in order, at most `max` messages and `bytesMax` unless one is larger. Until `end`, nothing else of
   * these lanes is. Lanes that failed before go without the others, so that they do not stop them again, and take turns with them.
   */
  begin(nowMs: number, limits: { max: number; bytesMax: number }): Pending<Own>[] {
    const batch = this.#due(nowMs, limits);
    for (const { message } of batch) this.#busy.add(message.lane);
    return batch;
  }

  end(batch: readonly Pending<Own>[]): void {
    for (const { message } of batch) this.#busy.delete(message.lane);
  }

  #due(nowMs: number, { max, bytesMax }: { max: number; bytesMax: number }): Pending<Own>[] {
    const due = this.#free().filter((lane) => lane.dueMs <= nowMs);
    const ofTurn = due.filter((lane) => lane.failures > 0 === this.#isFailedTurn);
    const lanes = ofTurn.length > 0 ? ofTurn : due;
    this.#isFailedTurn = lanes[0]?.failures === 0;
    const batch: Pending<Own>[] = [];
    let bytes = 0;
    for (const { waiting } of lanes) {
      for (const pending of waiting) {
        bytes += pending.event.bytes + 1;
        if (batch.length >= max || (bytes > bytesMax && batch.length > 0)) return batch;
        batch.push(pending);
      }
    }
    return batch;
  }

  /** Returns when the next lane that waits for its delay is due. Infinity if none does. */
  nextDueMs(): number {
    let next = Infinity;
    for (const { dueMs } of this.#free()) next = Math.min(next, dueMs);
    return next;
  }

  #free(): Lane<Own>[] {
    return [...this.#lanes].flatMap(([name, lane]) => (this.#busy.has(name) ? [] : [lane]));
  }

  /** Lets the lanes of these messages wait. */
  hold(batch: readonly Pending<Own>[], dueMs: (failures: number) => number): void {
    for (const lane of this.#lanesOf(batch)) lane.dueMs = dueMs(++lane.failures);
  }

  /** Returns what of a batch that was due at `nowMs` may still be sent: nothing that is gone, and nothing of a lane that waits. */
  stillDue(batch: readonly Pending<Own>[], nowMs: number): Pending<Own>[] {
    return batch.filter((pending) => {
      const { dueMs = Infinity } = this.#lanes.get(pending.message.lane) ?? {};
      return !pending.isGone && dueMs <= nowMs;
    });
  }

  /** True if each lane of the batch has failed before. */
  haveFailed(batch: readonly Pending<Own>[]): boolean {
    return this.#lanesOf(batch).every((lane) => lane.failures > 0);
  }

  /** Removes what is set aside or lost. */
  remove(batch: readonly Pending<Own>[]): void {
    this.takeOut(batch);
    this.settle(batch);
  }

  /** Takes what is published out of its lanes. It is held until it is settled. */
  takeOut(batch: readonly Pending<Own>[]): void {
    for (const pending of batch) pending.isGone = true;
    for (const name of new Set(batch.map(({ message }) => message.lane))) {
      const kept = (this.#lanes.get(name)?.waiting ?? []).filter((pending) => !pending.isGone);
      if (kept.length === 0) this.#lanes.delete(name);
      else this.#lanes.set(name, { waiting: kept, failures: 0, dueMs: 0 });
    }
  }

  settle(batch: readonly Pending<Own>[]): void {
    for (const pending of batch) {
      if (this.#held.delete(pending)) this.#bytes -= pending.event.bytes;
    }
  }

  removeWhere(isGone: (message: Own) => boolean): void {
    const all = [...this.#lanes.values()].flatMap((lane) => lane.waiting);
    this.remove(all.filter(({ message }) => isGone(message)));
  }

  /** Without those of which everything was removed meanwhile. */
  #lanesOf(batch: readonly Pending<Own>[]): Lane<Own>[] {
    const names = new Set(batch.map(({ message }) => message.lane));
    return [...names].flatMap((name) => this.#lanes.get(name) ?? []);
  }
}

/** Splits a batch between two lanes. Null if it has only one. */
export function halves<Own extends Message>(
  batch: readonly Pending<Own>[],
): [Pending<Own>[], Pending<Own>[]] | null {
  const lanes = [...new Set(batch.map(({ message }) => message.lane))];
  if (lanes.length < 2) return null;
  const first = new Set(lanes.slice(0, lanes.length / 2));
  const isFirst = ({ message }: Pending<Own>) => first.has(message.lane);
  return [batch.filter(isFirst), batch.filter((pending) => !isFirst(pending))];
}
