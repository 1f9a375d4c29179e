import { setTimeout as sleep } from "node:timers/promises";
import type { Load } from "../processes/load.ts";
import { requireAnswered } from "./http.ts";
import type { Subscription } from "./partners.ts";
import { testRequests } from "./requests.ts";
import type { Rig } from "./rig.ts";
import type { Service } from "./service.ts";

/** Fewer at a low rate, because the service closes connections whose first request comes late. */
const CONNECTIONS_MAX = 64;
/** After this time, an event counts as lost. */
const ARRIVAL_LIMIT_MS = 15_000;
const ANSWER_LIMIT_MS = 60_000;
const POLL_MS = 100;

export interface Offer {
  perSecond: number;
  warmUpMs: number;
  ms: number;
}

/**
 * Sends test events over HTTP, for the subscriptions in turn. Returns the time from each request to
 * the arrival of the whole delivery, measured by one clock.
 */
export async function latenciesOf(
  rig: Rig,
  service: Service,
  subscriptions: readonly Subscription[],
  offer: Offer,
): Promise<number[]> {
  return (await timelineOf(rig, service, subscriptions, offer)).map(({ tookMs }) => tookMs);
}

/** Also returns when each request was sent, in ms since the first one. */
export async function timelineOf(
  rig: Rig,
  service: Service,
  subscriptions: readonly Subscription[],
  offer: Offer,
): Promise<{ sinceMs: number; tookMs: number }[]> {
  const target = { url: service.partnerUrl, requests: testRequests(subscriptions) };
  return timelineOfRequests(rig, target, offer);
}

/** The same with any requests that publish one event each. */
export async function timelineOfRequests(
  rig: Rig,
  target: { url: string; requests: string[] },
  offer: Offer,
): Promise<{ sinceMs: number; tookMs: number }[]> {
  const { process: receiver } = rig.receivers;
  await receiver.ask("reset", { note: true });
  const load = rig.child<Load>("load");
  const plan = {
    ...target,
    connections: Math.min(CONNECTIONS_MAX, Math.ceil(offer.perSecond)),
    note: true,
    ...offer,
  };
  const limitMs = offer.warmUpMs + offer.ms + ANSWER_LIMIT_MS;
  const { sent, ...answered } = await load.ask("pace", plan, limitMs);
  await load.end();
  requireAnswered(answered);
  const arrived = await arrivals(
    rig,
    sent.map(({ eventId }) => eventId),
  );
  const began = sent[0]?.at ?? 0;
  return sent.map(({ eventId, at }) => ({
    sinceMs: at - began,
    tookMs: (arrived.get(eventId) ?? Infinity) - at,
  }));
}

/** Resolves to the arrival time of each event when all have arrived. */
async function arrivals(rig: Rig, eventIds: string[]): Promise<Map<string, number>> {
  for (let waitedMs = 0; ; waitedMs += POLL_MS) {
    const arrived = new Map(await rig.receivers.process.ask("noted"));
    const missing = eventIds.filter((id) => !arrived.has(id)).length;
    if (missing === 0) return arrived;
    if (waitedMs >= ARRIVAL_LIMIT_MS) throw new Error(`${missing} events did not arrive`);
    await sleep(POLL_MS);
  }
}

/** Resolves when that many events have arrived since the receivers were reset. */
export async function arrivalOf(rig: Rig, events: number): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += POLL_MS) {
    const { requests } = await rig.receivers.process.ask("count");
    if (requests >= events) return;
    if (waitedMs >= ARRIVAL_LIMIT_MS) throw new Error(`${events - requests} events did not arrive`);
    await sleep(POLL_MS);
  }
}
