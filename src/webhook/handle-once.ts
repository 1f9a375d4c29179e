export type EventState = "under_way" | "done";

/** Where a partner's program remembers events. Whoever shares the work shares the store. */
export interface EventStore {
  /**
   * Writes the state unless there is one, and answers the one that was there, or null. In a single
   * step, for two copies may arrive at once. Redis: `SET id state NX GET PX forMs`.
   */
  add: (id: string, state: EventState, forMs: number) => Promise<EventState | null>;
  /** Overwrites the state. Redis: `SET id state PX forMs`. */
  set: (id: string, state: EventState, forMs: number) => Promise<unknown>;
  delete: (id: string) => Promise<unknown>;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/**
 * Handles an event unless that was done before; an event counts as done only when `handle` has
 * returned. Answer `handled` and `duplicate` with 2xx, `under_way` with 503, so that it comes again
 * should the program that has it die.
 *
 * What `handle` throws is thrown on, and the next delivery of the event gets another chance. A
 * crash between the work and the note of it still repeats the work: where that must not be, write
 * both in one transaction.
 */
export async function handleOnce<Event extends { id: string }>(options: {
  store: EventStore;
  event: Event;
  handle: (event: Event) => unknown;
  /** After this, work that has neither returned nor thrown counts as lost. Default: a minute. */
  underWayMs?: number | undefined;
  /** Default: 30 days, after which nobody delivers the event again. */
  rememberMs?: number | undefined;
}): Promise<"handled" | "duplicate" | "under_way"> {
  const { store, event, handle, underWayMs = MINUTE_MS, rememberMs = 30 * DAY_MS } = options;

  const untilMs = performance.now() + underWayMs;
  const before = await store.add(event.id, "under_way", underWayMs);
  if (before !== null) return before === "done" ? "duplicate" : "under_way";
  try {
    await handle(event);
  } catch (error) {
    // After its time the mark is another's, who may be done.
    if (performance.now() < untilMs) await Promise.resolve(store.delete(event.id)).catch(ignore);
    throw error;
  }
  await store.set(event.id, "done", rememberMs);
  return "handled";
}

function ignore(): void {
  // The store is away, too. The event frees itself when its time under way is over.
}
