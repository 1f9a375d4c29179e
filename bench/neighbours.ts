import { latenciesOf } from "./support/latency.ts";
import type { Subscription } from "./support/partners.ts";
import { fillQueue } from "./support/queue.ts";
import { inMs } from "./support/report.ts";
import type { Rig, Stage } from "./support/rig.ts";
import { atMost, type Row } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";
import type { Service } from "./support/service.ts";
import { median, percentile } from "./support/statistics.ts";

const PER_SECOND = 500;
const ROUNDS = 12;
const DUE_EACH = 40;
/** Until the code of both services is compiled. The first attempts at receivers that hang time out meanwhile. */
const WARM_UP_MS = 8_000;

interface Hostile {
  what: string;
  organizations: number;
  urls: (rig: Rig) => Promise<string[]> | string[];
}

const HOSTILE: Hostile[] = [
  { what: "hang", organizations: 1, urls: ({ receivers }) => receivers.urls(64, "/hang/0") },
  {
    what: "drip headers",
    organizations: 1,
    urls: ({ receivers }) => receivers.urls(64, "/drip/0"),
  },
  { what: "stall in the handshake", organizations: 1, urls: (rig) => muteUrls(rig, false) },
  { what: "reset", organizations: 1, urls: (rig) => muteUrls(rig, true) },
  {
    what: "answer 500",
    organizations: 1,
    urls: ({ receivers }) => receivers.urls(64, "/refuse/0"),
  },
  {
    what: "hang at one host, 500 of 50 organizations",
    organizations: 50,
    urls: ({ receivers }) =>
      Array.from({ length: 500 }, (_, i) => `${receivers.urls(1, "/hang/0")[0] ?? ""}/${i}`),
  },
  {
    what: "have a silent name server",
    organizations: 1,
    urls: ({ receivers }) => receivers.silentUrls(64),
  },
];

interface Served {
  stage: Stage;
  service: Service;
}

/**
 * Do the receivers of one organization delay the events of others? Two services alternate, and only
 * one of them has the hostile subscriptions. The p99 is taken over all rounds, because a
 * single one has few events. If it differs from the medians of the rounds, a few rounds were slow.
 */
export const neighbours: Scenario = {
  name: "neighbours",
  isLong: true,
  run: async (rig) => {
    const rows: Row[] = [];
    for (const hostile of HOSTILE) {
      rows.push(await rowOf(rig, hostile));
      await rig.clear();
    }
    return rows;
  },
};

async function rowOf(rig: Rig, { what, organizations, urls }: Hostile): Promise<Row> {
  const without = await served(rig);
  const beside = await served(rig);
  const hostile = await beside.stage.add(organizations, "hostile", await urls(rig));
  await fill(rig, beside, hostile);
  for (const one of [without, beside]) await healthy(rig, one, rig.size(WARM_UP_MS, 200));

  const alone: number[][] = [];
  const together: number[][] = [];
  const turns = [
    async () => alone.push(await healthy(rig, without)),
    async () => {
      await fill(rig, beside, hostile);
      together.push(await healthy(rig, beside));
    },
  ];
  for (let round = 0; round < ROUNDS; round++) {
    for (const turn of turns) await turn();
    turns.reverse(); // Otherwise one of them would always follow the other.
  }
  const [with99, alone99] = [p99Of(together.flat()), p99Of(alone.flat())];
  const medians = [together, alone].map((rounds) => inMs(median(rounds.map(p99Of))));
  const measured = `p99 of the healthy ${inMs(with99)}, without them ${inMs(alone99)}; medians of the rounds ${medians.join(" and ")}`;
  return atMost(
    `neighbours that ${what}`,
    { must: 1.3, aim: 1.1, unit: "×" },
    { value: with99 / alone99, measured },
  );
}

function p99Of(latencies: number[]): number {
  return percentile(latencies, 0.99);
}

async function served(rig: Rig): Promise<Served> {
  const stage = await rig.stage(rig.receivers.urls(100));
  return { stage, service: await rig.service(stage, { AUTO_DISABLE_AFTER: "1000000" }) };
}

async function fill(rig: Rig, { stage }: Served, hostile: Subscription[]): Promise<void> {
  await fillQueue(stage.db, hostile, rig.size(DUE_EACH, 2) * hostile.length);
}

/** Returns the latencies of the healthy, in ms. */
function healthy(
  rig: Rig,
  { stage, service }: Served,
  ms = rig.size(2_500, 200),
): Promise<number[]> {
  return latenciesOf(rig, service, stage.subscriptions, {
    perSecond: PER_SECOND,
    warmUpMs: rig.size(500, 100),
    ms,
  });
}

/** URLs with the port of the receivers that never begin a handshake. */
async function muteUrls({ receivers }: Rig, resets: boolean): Promise<string[]> {
  const { address } = receivers;
  const port = await receivers.process.ask("startMute", { address, resets });
  return receivers.urls(64).map((text) => {
    const url = new URL(text);
    url.port = String(port);
    return url.href;
  });
}
