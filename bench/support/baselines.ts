import { setTimeout as sleep } from "node:timers/promises";
import { publicId, timeOrderedId } from "../../src/lib/ids.ts";
import { encodeEnvelope, TEST_EVENT, TEST_EVENT_DATA } from "../../src/subjects/events/rules.ts";
import type { Load } from "../processes/load.ts";
import type { Loop } from "../processes/loop.ts";
import type { Route } from "../processes/route.ts";
import type { Subscription } from "./partners.ts";
import { inThousands } from "./report.ts";
import type { Rig } from "./rig.ts";
import type { Pausable } from "./turn.ts";

/** A bare program with the best settings, to compare the service with. */
export interface Baseline {
  /** A description. */
  setting: string;
  /** Returns the current rate a second. */
  measure: () => Promise<number>;
  close: () => Promise<void>;
}

export interface BareLoop extends Pausable {
  /** A description. */
  setting: string;
  /** The rates with each setting while nothing else ran, as a description. */
  alone: string;
  /** The rate with few concurrent posts. */
  ofFew: number;
  close: () => Promise<void>;
}

/** Longer than any run of the bench. */
const LOOP_LIMIT_MS = 3_600_000;
/**
 * Connections of the bare loop to each receiver: as many as the service keeps, and fewer, which are
 * faster for a loop.
 */
const LOOP_CONNECTIONS = [16, 8, 4];
/**
 * The fastest concurrency for a loop. Shown for comparison only, because it would be too low for
 * slow receivers.
 */
export const FEW_AT_ONCE = 32;
const ROUTE_CONNECTIONS = [32, 64, 128];

/**
 * Sends signed HTTPS POSTs of the same envelopes to the same receivers, with the concurrency of the
 * service. Runs only in its turns.
 */
export async function bareLoop(
  rig: Rig,
  subscriptions: Subscription[],
  atOnce: number,
): Promise<BareLoop> {
  const { address, ca } = rig.receivers;
  const loop = rig.child<Loop>("loop");
  const plan = { address, ca, posts: subscriptions.map(postOf), atOnce };
  const time = { warmUpMs: rig.size(1_000, 200), ms: rig.size(2_000, 300) };
  await loop.ask("run", { ...plan, connections: 1, ...time }); // Until the code is compiled.
  const { connections, tried } = await bestOf(LOOP_CONNECTIONS, (connections) =>
    loop.ask("run", { ...plan, connections, ...time }),
  );
  const ofFew = await loop.ask("run", { ...plan, connections, atOnce: FEW_AT_ONCE, ...time });

  const endless = { ...plan, connections, warmUpMs: 0, ms: LOOP_LIMIT_MS };
  loop.ask("run", endless, LOOP_LIMIT_MS).catch(() => undefined); // It ends with its process.
  await sleep(time.warmUpMs);
  loop.pause();
  return {
    setting: `bare loop with ${connections} connections each`,
    alone: tried,
    ofFew,
    pause: () => {
      loop.pause();
    },
    resume: () => {
      loop.resume();
    },
    close: () => loop.end(),
  };
}

/** Sends the same requests to Fastify routes with the same schemas and constant responses. */
export async function bareRoute(rig: Rig, requests: string[]): Promise<Baseline> {
  const route = rig.child<Route>("route");
  const load = rig.child<Load>("load");
  const url = await route.ask("start");
  const time = { warmUpMs: rig.size(500, 200), ms: rig.size(2_000, 300) };
  const measure = async (connections: number) => {
    const { perSecond, others } = await load.ask("saturate", {
      url,
      requests,
      connections,
      ...time,
    });
    if (others > 0) throw new Error(`the bare route refused ${others} requests`);
    return perSecond;
  };
  const { connections } = await bestOf(ROUTE_CONNECTIONS, measure);
  const close = async () => {
    await Promise.all([load.end(), route.end()]);
  };
  const setting = `bare route with ${connections} connections`;
  return { setting, measure: () => measure(connections), close };
}

async function bestOf(settings: number[], run: (connections: number) => Promise<number>) {
  const tried: { connections: number; perSecond: number }[] = [];
  for (const connections of settings) {
    tried.push({ connections, perSecond: await run(connections) });
  }
  const { connections } = tried.reduce((a, b) => (b.perSecond > a.perSecond ? b : a));
  const rates = tried.map((one) => `${inThousands(one.perSecond)}/s with ${one.connections}`);
  return { connections, tried: rates.join(", ") };
}

function postOf({ id, url, secret }: Subscription) {
  const occurredAt = new Date();
  const event = {
    id: timeOrderedId(occurredAt),
    type: TEST_EVENT,
    occurredAt,
    data: TEST_EVENT_DATA,
  };
  const { origin, pathname: path } = new URL(url);
  return {
    origin,
    path,
    eventId: publicId("evt", event.id),
    signingSecret: secret,
    body: encodeEnvelope(event, id).toString(),
  };
}
