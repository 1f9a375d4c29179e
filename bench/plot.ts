import { mkdir, readFile, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { chartOf } from "./support/chart.ts";
import { timelineOf } from "./support/latency.ts";
import { fillQueue } from "./support/queue.ts";
import { inMs } from "./support/report.ts";
import type { Rig } from "./support/rig.ts";
import { atMost } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";
import { median, percentile } from "./support/statistics.ts";

const FILE = fileURLToPath(new URL("../../docs/images/neighbours.svg", import.meta.url));
/**
 * The line "beside it" of the build before organizations shared slots, up to 30 s. Most of the events had not
 * arrived by then. The commit that changed this is "Share slots between organizations and hosts".
 */
const BEFORE = new URL("../../bench/neighbours-before.json", import.meta.url);
const PER_SECOND = 200;
const SECONDS = 40;
/** When the hostile organization arrives. */
const ARRIVES_S = 10;
const WARM_UP_MS = 3_000;
const HOSTILE = 64;
const DUE_EACH = 40;

/**
 * Draws the p99 of healthy organizations over time in three cases: with an organization whose receivers hang,
 * without it, and with it before slots were shared.
 */
export const plot: Scenario = {
  name: "plot",
  isLong: true,
  run: async (rig) => {
    const without = await secondsOf(rig, { isBeside: false });
    await rig.clear();
    const beside = await secondsOf(rig, { isBeside: true });

    const before = JSON.parse(await readFile(BEFORE, "utf8")) as number[];
    const lines = [
      { name: "without it", values: without },
      { name: "beside it", values: beside },
      { name: "beside it, before slots were shared", values: before },
    ];
    const arrives = rig.size(ARRIVES_S, 1);
    const title = `p99 of healthy organizations at ${PER_SECOND} events a second`;
    const mark = { second: arrives, text: `${HOSTILE} receivers that hang, ${DUE_EACH} due each` };
    await mkdir(dirname(FILE), { recursive: true });
    await writeFile(FILE, chartOf(title, lines, mark));

    const [alone, since] = [without, beside].map((values) => median(values.slice(arrives)));
    const measured = `median of the seconds after it arrives ${inMs(since ?? NaN)}, without it ${inMs(alone ?? NaN)}`;
    return [
      atMost(
        "plot, after the hostile organization arrives",
        { must: 2, aim: 1.3, unit: "×" },
        { value: (since ?? NaN) / (alone ?? NaN), measured },
      ),
    ];
  },
};

async function secondsOf(rig: Rig, { isBeside }: { isBeside: boolean }): Promise<number[]> {
  const stage = await rig.stage(rig.receivers.urls(100));
  const hostile = await stage.add(1, "hostile", rig.receivers.urls(HOSTILE, "/hang/0"));
  const service = await rig.service(stage, { AUTO_DISABLE_AFTER: "1000000" });
  const warmUpMs = rig.size(WARM_UP_MS, 200);
  const ms = rig.size(SECONDS, 3) * 1_000;
  const timed = timelineOf(rig, service, stage.subscriptions, {
    ...{ perSecond: PER_SECOND, warmUpMs, ms },
  });
  await sleep(warmUpMs + rig.size(ARRIVES_S, 1) * 1_000);
  if (isBeside) await fillQueue(stage.db, hostile, DUE_EACH * hostile.length);
  const requests = await timed;
  return Array.from({ length: ms / 1_000 }, (_, second) => {
    const within = requests.filter(({ sinceMs }) => Math.floor(sinceMs / 1_000) === second);
    return percentile(
      within.map(({ tookMs }) => tookMs),
      0.99,
    );
  });
}
