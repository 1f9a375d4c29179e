import { setTimeout as sleep } from "node:timers/promises";
import type { Load } from "./processes/load.ts";
import type { Subscription } from "./support/partners.ts";
import { batchRequest, PUBLISHER } from "./support/publisher.ts";
import { inMs } from "./support/report.ts";
import {
  creationRequest,
  identityRequest,
  identityRequests,
  testRequests,
} from "./support/requests.ts";
import type { Rig, Stage } from "./support/rig.ts";
import { atMost, type Row } from "./support/row.ts";
import type { Target } from "./support/saturate.ts";
import type { Scenario } from "./support/scenario.ts";
import type { Service } from "./support/service.ts";
import { percentile } from "./support/statistics.ts";

const ROUNDS = 5;
/** Identity checks of the other organizations, and their test calls meanwhile. */
const PER_SECOND = 200;
const MS = 3_000;
/** The default rate limit, 600 a minute. */
const LIMIT_PER_SECOND = 10;
/** The start of the process that offers load takes a core for a while. It must not count as load. */
const STARTED_MS = 1_000;
/** Longer than a row takes. The processes that offer load are ended before. */
const OFFER_MS = 300_000;

/** The load of one organization beside the others. */
interface Busy {
  what: string;
  perSecond: number;
  target: (service: Service, own: Subscription[], rig: Rig) => Target;
}

const BUSY: Busy[] = [
  {
    what: "creations whose look-ups hang",
    perSecond: LIMIT_PER_SECOND,
    target: ({ partnerUrl: url }, [one], { receivers }) => ({
      ...{ url, connections: 60 },
      requests: receivers.silentUrls(100).map((to) => creationRequest(tokenOf(one), to)),
    }),
  },
  {
    what: "test calls",
    perSecond: LIMIT_PER_SECOND,
    target: ({ partnerUrl: url }, own) => ({ url, connections: 20, requests: testRequests(own) }),
  },
  {
    what: "requests beyond the limit",
    perSecond: 10 * LIMIT_PER_SECOND,
    target: ({ partnerUrl: url }, [one]) => ({
      ...{ url, connections: 20 },
      requests: [identityRequest(tokenOf(one))],
    }),
  },
  {
    what: "batches of 100 events",
    perSecond: LIMIT_PER_SECOND,
    target: ({ operatorUrl: url }, own) => ({
      ...{ url, connections: 4 },
      requests: [batchRequest(Array.from({ length: 5 }, () => own).flat())],
    }),
  },
];

/**
 * Do the requests of one organization at its rate limit delay those of others? The others' identity checks
 * are timed with and without these requests, in turn. The p99 is that of all rounds together. The service is
 * busy in both, because on an idle machine any other load shows in the p99.
 */
export const accepting: Scenario = {
  name: "accepting",
  isLong: true,
  run: async (rig) => {
    const stage = await rig.stage(rig.receivers.urls(100));
    const own = await stage.add(1, "busy", rig.receivers.urls(20));
    await limit(stage, own);
    const service = await rig.service(stage, PUBLISHER);
    const rows: Row[] = [];
    for (const busy of BUSY) rows.push(await rowOf(rig, { stage, service, own }, busy));
    return rows;
  },
};

async function rowOf(
  rig: Rig,
  { stage, service, own }: { stage: Stage; service: Service; own: Subscription[] },
  { what, perSecond, target }: Busy,
): Promise<Row> {
  const requests = identityRequests(stage.subscriptions);
  const others = { url: service.partnerUrl, connections: 20, requests };
  const round = async () => {
    const without = await timesOf(rig, others);
    const stop = offer(rig, { ...target(service, own, rig), perSecond });
    await sleep(rig.size(STARTED_MS, 100));
    const beside = await timesOf(rig, others);
    await stop();
    return { without, beside };
  };
  const inUse = { ...others, requests: testRequests(stage.subscriptions) };
  const stop = offer(rig, { ...inUse, perSecond: PER_SECOND });
  await round(); // Warm up.
  const rounds = [];
  while (rounds.length < ROUNDS) rounds.push(await round());
  await stop();
  const without = percentile(
    rounds.flatMap((one) => one.without),
    0.99,
  );
  const beside = percentile(
    rounds.flatMap((one) => one.beside),
    0.99,
  );
  const measured = `p99 of the others' identity checks ${inMs(beside)}, without them ${inMs(without)}`;
  return atMost(
    `accepting, beside ${what}`,
    { must: 1.3, aim: 1.1, unit: "×" },
    { value: beside / without, measured },
  );
}

/** Sends requests at a steady rate until the returned function is called. */
function offer(rig: Rig, target: Target & { perSecond: number }): () => Promise<void> {
  const load = rig.child<Load>("load");
  const plan = { ...target, warmUpMs: 0, ms: OFFER_MS, note: false };
  const offered = load.ask("pace", plan, 2 * OFFER_MS).catch(() => undefined);
  return async () => {
    await load.end();
    await offered;
  };
}

async function timesOf(rig: Rig, target: Target): Promise<number[]> {
  const load = rig.child<Load>("load");
  const time = { warmUpMs: rig.size(500, 100), ms: rig.size(MS, 300) };
  const { sent } = await load.ask("pace", {
    ...target,
    ...time,
    perSecond: PER_SECOND,
    note: true,
  });
  await load.end();
  return sent.map(({ tookMs }) => tookMs);
}

/** Gives the organization the default rate limit. */
async function limit({ db }: Stage, [one]: Subscription[]): Promise<void> {
  await db`
    update organizations set rate_limit_per_minute = ${60 * LIMIT_PER_SECOND}
     where id = ${one?.partner.organizationId ?? null}`;
}

function tokenOf(subscription: Subscription | undefined): string {
  return subscription?.partner.token ?? "";
}
