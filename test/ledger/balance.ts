import { parseId, publicId } from "../../src/lib/ids.ts";
import { groupBy } from "../../src/lib/objects.ts";
import type { Books } from "./books.ts";
import type { Accepted } from "./callers.ts";
import { type Cause, explain } from "./duplicates.ts";
import { flawOf, lossOf } from "./fate.ts";
import type { Arrival } from "./journal.ts";
import type { Harm } from "./services.ts";
import { match, type Sighting, sightingsOf } from "./sightings.ts";
import type { Unrecorded } from "./unrecorded.ts";

export interface Evidence {
  accepted: readonly Pick<Accepted, "event">[];
  arrivals: readonly Arrival[];
  books: Books;
  harms: readonly Harm[];
  /** From the logs of the services. */
  unrecorded: readonly Unrecorded[];
}

export interface Balance {
  /** Accepted events that are not delivered, dead-lettered or cancelled by a rule, each with the reason. */
  lost: string[];
  /** Events that are stored partly, and audits with gaps. */
  flaws: string[];
  /** Events that are stored completely although no caller got a 200. */
  unanswered: number;
  /** The number of deliveries by final state. */
  ends: Map<string, number>;
  /** Attempts whose request arrived twice because a kept connection was reset during the first. */
  repeats: number;
  /** Attempts that receivers saw and that are not recorded. */
  duplicates: Duplicate[];
}

export interface Duplicate {
  sighting: Sighting;
  because: Cause | null;
  /** Everything known about its delivery, for debugging. */
  known: object;
}

/** Compares the service's records with the responses to callers and the requests at receivers. */
export function balance({ accepted, arrivals, books, harms, unrecorded }: Evidence): Balance {
  const stored = new Set(books.events);
  const ended = new Set(books.ended);
  const unwanted = new Set(books.unwanted);
  const promised = new Set(accepted.map(({ event }) => parseId("evt", event) ?? event));
  const deliveries = groupBy(books.deliveries, ({ event }) => event);
  const attempts = groupBy(books.attempts, ({ delivery }) => delivery);
  const sightings = sightingsOf(arrivals);

  const found: Balance = {
    lost: [],
    flaws: [],
    unanswered: [...stored].filter((event) => !promised.has(event)).length,
    ends: new Map(),
    repeats: [...sightings.values()].flat().filter(({ answers }) => answers.length > 1).length,
    duplicates: [],
  };
  for (const event of new Set([...promised, ...stored, ...deliveries.keys()])) weigh(event);
  return found;

  function weigh(event: string): void {
    const [delivery, ...others] = deliveries.get(event) ?? [];
    const blame = promised.has(event) ? found.lost : found.flaws;
    if (!delivery) {
      if (unwanted.has(event)) return;
      blame.push(`${event}: ${stored.has(event) ? "it has no delivery" : "it is missing"}`);
      return;
    }
    if (!stored.has(event)) found.flaws.push(`${event}: its delivery has no event`);
    if (others.length > 0) found.flaws.push(`${event}: it has ${others.length + 1} deliveries`);

    const audit = attempts.get(delivery.id) ?? [];
    const sighted = sightings.get(publicId("evt", event)) ?? [];
    const { seen, unrecorded: duplicates } = match(audit, sighted);
    const starts = [...audit.map(({ from }) => from), ...sighted.map(({ sentAt }) => sentAt)];
    const known = { delivery, attempts: audit, seen, hasEnded: ended.has(delivery.subscription) };
    const [loss, flaw] = [lossOf(known), flawOf(known)];
    if (loss !== null) blame.push(`${event}: ${loss}`);
    if (flaw !== null) found.flaws.push(`${event}: ${flaw}`);

    found.ends.set(delivery.state, (found.ends.get(delivery.state) ?? 0) + 1);
    found.duplicates.push(
      ...duplicates.map((sighting) => ({
        sighting,
        because: explain(sighting, {
          harms,
          unrecorded,
          nextAt: Math.min(...starts.filter((at) => at > sighting.sentAt)),
        }),
        known: {
          ...{ delivery, attempts: audit, sightings: sighted },
          log: unrecorded.filter((line) => line.event === sighting.event),
        },
      })),
    );
  }
}

/** All faults of the service. */
export function faultsOf({ lost, flaws, duplicates }: Balance): string[] {
  const unexplained = duplicates
    .filter(({ because }) => because === null)
    .map(({ sighting: { event, slot, sentAt }, known }) => {
      return `${event}: nothing explains the attempt by ${slot} at ${sentAt}: ${JSON.stringify(known)}`;
    });
  return [...lost.map((one) => `lost: ${one}`), ...flaws, ...unexplained];
}

/** The number of injected faults of a kind that hit attempts in progress. */
export function hitsOf({ duplicates }: Balance, kind: Harm["kind"]): number {
  const harms = duplicates.map(({ because }) => because?.harm);
  return new Set(harms.filter((one) => one?.kind === kind)).size;
}
