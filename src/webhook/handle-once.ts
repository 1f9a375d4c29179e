export type EventState = "under_way" | "done";

/** Where your program remembers events. All processes that handle events must share one store. */
export interface EventStore {
  /**
   * Writes the state unless the event has one. Returns the previous state, or null. Must be atomic,
   * because two copies can arrive at once. Redis: `SET id state NX GET PX forMs`.
   */
  add: (id: string, state: EventState, forMs: number) => Promise<EventState | null>;
  /** Overwrites the state. Redis: `SET id state PX forMs`. */
  set: (id: string, state: EventState, forMs: number) => Promise<unknown>;
  delete: (id: string) => Promise<unknown>;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/**
 * Handles an event unless it was handled before. An event is done when `handle` has returned.
 *
 * Respond with 2xx to `handled` and `duplicate`. Respond with 503 to `under_way`, so that the event
 * is sent again if the first copy fails.
 *
 * If `handle` throws, `handleOnce` throws the same error and the next delivery handles the event
 * again. A crash after the work and before the write to the store repeats the work. If it must not,
 * write both in one transaction.
 */
export async function handleOnce<Event extends { id: string }>(options: {
  store: EventStore;
  event: Event;
  handle: (event: Event) => unknown;
  /** After this time, work that has neither returned nor thrown counts as lost. Default: 1 minute. */
  underWayMs?: number | undefined;
  /** How long a handled event is remembered. Default: 30 days. Older events are never sent again. */
  rememberMs?: number | undefined;
}): Promise<"handled" | "duplicate" | "under_way"> {
  requireUsable(options);
  const { store, event, handle, underWayMs = MINUTE_MS, rememberMs = 30 * DAY_MS } = options;
  for (const [name, ms] of Object.entries({ underWayMs, rememberMs })) {
    if (!(Number.isFinite(ms) && ms > 0)) {
      throw new TypeError(`handleOnce needs ${name} as a number of milliseconds above 0`);
    }
  }

  const untilMs = performance.now() + underWayMs;
  const before: unknown = await store.add(event.id, "under_way", underWayMs);
  if (before === "done") return "duplicate";
  if (before === "under_way") return "under_way";
  if (before !== null) {
    throw new TypeError(
      'handleOnce needs a store whose `add` returns "under_way" or "done", the state before, or ' +
        `null if there was none, but got a ${typeof before}`,
    );
  }
  try {
    await handle(event);
  } catch (error) {
    // Later the entry may belong to another process, which may have handled the event.
    if (performance.now() < untilMs) await Promise.resolve(store.delete(event.id)).catch(ignore);
    throw error;
  }
  await store.set(event.id, "done", rememberMs);
  return "handled";
}

/** An event without an id, or a store that remembers nothing, would lose events without a word. */
function requireUsable(options: unknown): void {
  const { store, event, handle } = (options ?? {}) as Partial<Record<string, unknown>>;
  const { id } = (event ?? {}) as { id?: unknown };
  if (typeof id !== "string" || id === "") {
    throw new TypeError(
      "handleOnce needs the event that `verify` returned as valid, with its `id`",
    );
  }
  const methods = (store ?? {}) as Partial<Record<string, unknown>>;
  const missing = ["add", "set", "delete"].filter((name) => typeof methods[name] !== "function");
  if (missing.length > 0) {
    throw new TypeError(
      "handleOnce needs a store with `add`, `set` and `delete`: createMemoryStore() returns one",
    );
  }
  if (typeof handle !== "function") throw new TypeError("handleOnce needs `handle`, a function");
}

function ignore(): void {
  // The store is unreachable too. The entry expires after `underWayMs`.
}
