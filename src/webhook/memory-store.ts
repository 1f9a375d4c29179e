import type { EventState, EventStore } from "./handle-once.ts";

/**
 * A store in memory, for a single process and for trying out. A restart forgets everything. Holds
 * at most `maxEvents` and then forgets the oldest.
 */
export function createMemoryStore({ maxEvents = 100_000, now = Date.now } = {}): EventStore {
  if (!(maxEvents >= 1)) throw new TypeError("createMemoryStore needs maxEvents of at least 1");
  const entries = new Map<string, { state: EventState; until: number }>();

  const write = (id: string, state: EventState, forMs: number) => {
    entries.delete(id); // A Map keeps insertion order.
    entries.set(id, { state, until: now() + forMs });
    const [oldest] = entries.keys();
    if (entries.size > maxEvents && oldest !== undefined) entries.delete(oldest);
  };

  return {
    add: (id, state, forMs) => {
      const entry = entries.get(id);
      if (entry !== undefined && entry.until > now()) return Promise.resolve(entry.state);
      write(id, state, forMs);
      return Promise.resolve(null);
    },
    set: (id, state, forMs) => {
      write(id, state, forMs);
      return Promise.resolve();
    },
    delete: (id) => Promise.resolve(entries.delete(id)),
  };
}
