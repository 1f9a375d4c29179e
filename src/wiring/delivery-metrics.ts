import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { ActivityLog } from "../actions/activity-log.ts";
import type { Recorded } from "../actions/attempts.ts";
import { endToEndMs } from "../actions/counted-activity.ts";
import type { Clock } from "../domain/clock.ts";
import { countBacklog } from "../postgres/backlog.ts";
import type { Database } from "../postgres/database.ts";
import { kept } from "./kept.ts";
import { VERSION } from "./product.ts";
import { within } from "./within.ts";

/** How long the database may take. */
const DATABASE_MS = 2_000;

/** Exposes the backlog, published events and the version. */
export function watchDeliveries(
  registers: Registry[],
  { db, clock, activity }: { db: Database; clock: Clock; activity: Pick<ActivityLog, "published"> },
): void {
  const askBacklog = kept(() =>
    within(DATABASE_MS, countBacklog(db.within(DATABASE_MS), null, clock())).catch(() => null),
  );
  new Gauge({
    name: "partner_api_backlog",
    help: "Waiting deliveries: exact up to 10,000, estimated above, absent while the database is unavailable",
    labelNames: ["state"],
    registers,
    async collect() {
      this.reset();
      const backlog = await askBacklog();
      if (backlog === null) return;
      this.set({ state: "due" }, backlog.due);
      this.set({ state: "scheduled" }, backlog.scheduled);
    },
  });
  let told = 0;
  new Counter({
    name: "partner_api_published_events_total",
    help: "Events that this process published",
    registers,
    collect() {
      this.inc(activity.published - told);
      told = activity.published;
    },
  });
  new Gauge({
    name: "partner_api_build_info",
    help: "The running version; the value is always 1",
    labelNames: ["version", "node"],
    registers,
  }).set({ version: VERSION, node: process.version }, 1);
}

/** Measures the time from publishing to the end of the successful attempt. */
export function measureEndToEnd(registers: Registry[]): (recorded: Recorded) => void {
  const durations = new Histogram({
    name: "partner_api_end_to_end_seconds",
    help: "Time from publishing an event to its delivery",
    buckets: [0.01, 0.05, 0.25, 1, 5, 30, 120, 600, 3_600, 21_600, 86_400, 172_800],
    registers,
  });
  return ({ settled }) => {
    for (const { ended, state } of settled) {
      if (state === "delivered")
        durations.observe(endToEndMs(ended.claim.id, ended.endedAt) / 1000);
    }
  };
}
