import { publicId } from "../src/lib/ids.ts";
import { fillHistory } from "./support/history.ts";
import { fillQueue } from "./support/queue.ts";
import { inMs } from "./support/report.ts";
import type { Rig, Stage } from "./support/rig.ts";
import { atMost, type Row } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";
import { percentile } from "./support/statistics.ts";

const DELIVERIES = 10_000_000;
const SUBSCRIPTIONS = 10_000;
/** More than are counted exactly. */
const WAITING = 20_000;
const ROUNDS = 100;
const ADMIN_TOKEN = "operator-token-of-the-bench-0123456789";
const HOUR_MS = 3_600_000;

/** The overview and every list of the operator API, with a month of history. */
export const history: Scenario = {
  name: "history",
  isLong: true,
  run: async (rig): Promise<Row[]> => {
    const count = rig.finished ?? rig.size(DELIVERIES, 20_000);
    const stage = await rig.stage(rig.receivers.urls(rig.size(SUBSCRIPTIONS, 200)));
    const began = performance.now();
    await fillHistory(stage.db, stage.subscriptions, count);
    await fillQueue(stage.db, stage.subscriptions, rig.size(WAITING, 200));
    const fillS = Math.round((performance.now() - began) / 1000);
    const service = await rig.service(stage, { ROLE: "api", ADMIN_TOKEN });
    const times = await timeAll(rig, `${service.operatorUrl}/api/v1/admin/`, await listsOf(stage));
    await service.stop();

    const rows = [...times].map(([name, ms]) => ({ name, p99: percentile(ms, 0.99), ms }));
    const slowest = rows.toSorted((a, b) => b.p99 - a.p99);
    const told = slowest.map(
      ({ name, p99, ms }) => `${name} ${inMs(p99)} (max ${inMs(Math.max(...ms))})`,
    );
    return [
      atMost(
        `overview and lists with ${count.toLocaleString("en")} finished deliveries, p99 of the slowest`,
        { must: 100, aim: 50, unit: "ms" },
        { value: slowest[0]?.p99 ?? null, measured: `filled in ${fillS} s; ${told.join(", ")}` },
      ),
    ];
  },
};

/** Paths by name. A round uses another organization, subscription, host and event than the one before. */
type Lists = Record<string, (round: number) => string>;

async function listsOf({ db, subscriptions }: Stage): Promise<Lists> {
  const events = await db<{ id: string }[]>`select id from events order by id desc limit 100`;
  const nth = (round: number) => {
    const subscription = subscriptions[(round * 97) % subscriptions.length];
    if (subscription === undefined) throw new Error("there are no subscriptions");
    return subscription;
  };
  const wh = (round: number) => publicId("wh", nth(round).id);
  const org = (round: number) => publicId("org", nth(round).partner.organizationId);
  const host = (round: number) => new URL(nth(round).url).hostname;
  const event = (round: number) => publicId("evt", events[round % events.length]?.id ?? "");
  const ago = (hours: number) => new Date(Date.now() - hours * HOUR_MS).toISOString();
  return {
    overview: () => "overview",
    "activity, week": () => `activity?since=${ago(168)}&until=${ago(0)}&step=1h`,
    "activity of an organization": (n) =>
      `activity?organization=${org(n)}&since=${ago(700)}&until=${ago(0)}&step=1d`,
    "activity of a subscription": (n) =>
      `activity?subscription=${wh(n)}&since=${ago(700)}&until=${ago(0)}&step=1h`,
    organizations: () => "organizations?limit=100",
    organization: (n) => `organizations/${org(n)}`,
    subscriptions: () => "subscriptions?limit=100",
    "failing subscriptions": (n) => `subscriptions?order=failing&organization=${org(n)}`,
    "subscriptions of an organization": (n) => `subscriptions?organization=${org(n)}`,
    subscription: (n) => `subscriptions/${wh(n)}`,
    failures: (n) => `subscriptions/${wh(n)}/failures`,
    keys: () => "keys",
    deliveries: () => "deliveries",
    waiting: () => "deliveries?state=waiting",
    "waiting of a subscription": (n) => `deliveries?state=waiting&subscription=${wh(n)}`,
    "dead letters": () => "deliveries?state=dead_lettered",
    "by reason": () => "deliveries?reason=http_503",
    "deliveries of an organization": (n) => `deliveries?organization=${org(n)}&state=delivered`,
    "deliveries of a subscription": (n) => `deliveries?subscription=${wh(n)}`,
    "deliveries to a host": (n) => `deliveries?host=${host(n)}`,
    "deliveries of an event": (n) => `deliveries?event=${event(n)}`,
    "deliveries of a day": (n) =>
      `deliveries?since=${ago(24 * ((n % 28) + 1))}&until=${ago(24 * (n % 28))}`,
    "event types": () => "event-types",
    changes: () => "changes",
    redeliveries: () => "redeliveries",
    processes: () => "processes",
    marks: () => "marks",
    "find an event": (n) => `find?q=${event(n)}`,
    "find a host": (n) => `find?q=${host(n).slice(0, 4)}`,
  };
}

/** The lists take turns, so that none profits from its own previous answer. */
async function timeAll(rig: Rig, base: string, lists: Lists): Promise<Map<string, number[]>> {
  const times = new Map(Object.keys(lists).map((name) => [name, [] as number[]]));
  const rounds = rig.size(ROUNDS, 3);
  for (let round = 0; round <= rounds; round++) {
    for (const [name, pathOf] of Object.entries(lists)) {
      const began = performance.now();
      const path = pathOf(round);
      const response = await fetch(base + path, {
        headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
      if (round > 0) times.get(name)?.push(performance.now() - began); // The first one compiles the code.
    }
  }
  return times;
}
