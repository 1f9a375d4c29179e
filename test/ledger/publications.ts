import { existsSync, readFileSync, writeSync } from "node:fs";

/** The ways to publish. */
export const WAYS = ["http", "command", "sql", "typescript"] as const;
export type Way = (typeof WAYS)[number];

/** A line of the publishers' journal: the events before a request, or the answer to it. */
export type Line =
  | { begins: string[]; way: Way }
  /** The event id for each key. `duplicates` counts the events that existed already. */
  | { answers: Record<string, string>; duplicates: number; way: Way };

/** The publishers' journal over all restarts. */
export interface Publications {
  /** How often each key was sent. */
  sent: Map<string, number>;
  /** The event ids in the answers for a key. */
  answers: Map<string, Set<string>>;
  /** The number of answers that named an existing event: an earlier answer was lost. */
  duplicates: number;
  byWay: Map<Way, number>;
}

export function write(journal: number, line: Line): void {
  writeSync(journal, `${JSON.stringify(line)}\n`);
}

export function readPublications(path: string): Publications {
  const found: Publications = {
    ...{ sent: new Map(), answers: new Map(), duplicates: 0, byWay: new Map() },
  };
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  for (const json of text.split("\n").filter((one) => one !== "")) {
    const line = JSON.parse(json) as Line;
    if ("begins" in line) {
      for (const key of line.begins) {
        found.sent.set(key, (found.sent.get(key) ?? 0) + 1);
      }
      continue;
    }
    found.duplicates += line.duplicates;
    for (const [key, event] of Object.entries(line.answers)) {
      found.answers.set(key, (found.answers.get(key) ?? new Set()).add(event));
      found.byWay.set(line.way, (found.byWay.get(line.way) ?? 0) + 1);
    }
  }
  return found;
}

/** The published events in the database. Ids are bare UUIDs. */
export interface Ledgered {
  keys: { key: string; event: string }[];
  /** Events of the published type. */
  events: string[];
  /** The publisher's own rows, written in the transaction that publishes. */
  orders: { key: string; event: string }[];
}

/** Returns the contradictions of the promise: each answered key has one event, and every event has a key. */
export function faultsOfPublishing(
  { sent, answers }: Pick<Publications, "sent" | "answers">,
  { keys, events, orders }: Ledgered,
): string[] {
  const faults: string[] = [];
  const stored = new Set(events);
  const eventOf = new Map(keys.map(({ key, event }) => [key, event]));
  for (const key of sent.keys()) if (!answers.has(key)) faults.push(`${key}: it has no answer`);
  for (const [key, told] of answers) {
    const event = eventOf.get(key);
    if (told.size > 1) faults.push(`${key}: its publishers got the ids of ${told.size} events`);
    if (event === undefined) faults.push(`${key}: it is not stored`);
    else if (!told.has(event)) faults.push(`${key}: its publisher got the id of another event`);
    if (event !== undefined && !stored.has(event)) faults.push(`${key}: its event is missing`);
  }
  const known = new Set(eventOf.values());
  for (const event of stored) if (!known.has(event)) faults.push(`${event}: it has no key`);
  for (const { key, event } of orders) {
    if (eventOf.get(key) !== event) faults.push(`${key}: its order has another event`);
  }
  return faults;
}
