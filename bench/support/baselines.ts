import { setTimeout as sleep } from "node:timers/promises";
import { encodeEnvelope, TEST_EVENT, TEST_EVENT_DATA } from "../../src/domain/event.ts";
import { publicId, timeOrderedId } from "../../src/domain/ids.ts";
import type { Load } from "../processes/load.ts";
import type { Loop } from "../processes/loop.ts";
import type { Route } from "../processes/route.ts";
import type { Subscription } from "./partners.ts";
import { inThousands } from "./report.ts";
import type { Rig } from "./rig.ts";
import type { Party } from "./turn.ts";

/** What the service is held against: something bare, at the setting that suits it best. */
export interface Baseline {
  /** In words. */
  setting: string;
  /** Answers how many a second it makes just now. */
  measure: () => Promise<number>;
  close: () => Promise<void>;
}

export interface BareLoop extends Party {
  /** In words. */
  setting: string;
  /** What it made at each setting while nothing else ran, in words. */
  alone: string;
  /** How many a second it made with few posts at once. */
  ofFew: number;
  close: () => Promise<void>;
}

/** Longer than any bench. */
const LOOP_LIMIT_MS = 3_600_000;
/** Connections of the bare loop to each receiver: as many as the service comes to keep, and fewer, which suit a loop better. */
const LOOP_CONNECTIONS = [16, 8, 4];
/** So few posts at once suit a loop best. What it makes of them is shown, and is no setting: receivers may be slow. */
export const FEW_AT_ONCE = 32;
const ROUTE_CONNECTIONS = [32, 64, 128];

/**
 * Signed HTTPS POSTs of the same envelopes to the same receivers, as many at once as the service makes attempts, and
 * nothing else. It goes on, but in its turns alone.
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
  await loop.ask("run", { ...plan, connections: 1, ...time }); // Until its code is compiled.
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

/** The same requests to Fastify routes with the same schemas and constant answers. */
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
