import { Counter, Gauge, type Registry } from "prom-client";
import type { ActivityLog } from "../actions/activity-log.ts";
import type { Clock } from "../domain/clock.ts";
import { countBacklog, findNextDueOf } from "../postgres/backlog.ts";
import type { Database } from "../postgres/database.ts";
import { countExports } from "../postgres/history-exports.ts";
import { kept } from "./kept.ts";
import { within } from "./within.ts";

/** The database as its metrics see it. */
export interface Watched {
  db: Database;
  clock: { now: Clock; readonly skewMs: number };
  activity: Pick<ActivityLog, "published">;
}

/** Exposes lag, backlog and clock. While the database is unavailable there is no lag and no backlog. */
export function watchDatabase(
  registers: Registry[],
  { db, clock, activity }: Watched,
  databaseMs: number,
): void {
  const askNextDue = keptInTime(databaseMs, () =>
    findNextDueOf(db.within(databaseMs), null, clock.now()),
  );
  const askBacklog = keptInTime(databaseMs, () =>
    countBacklog(db.within(databaseMs), null, clock.now()),
  );
  new Gauge({
    name: "partner_api_delivery_lag_seconds",
    help: "Seconds for which the oldest due delivery has been due; 0 if none is due, absent while the database is unavailable",
    registers,
    async collect() {
      const due = await askNextDue();
      if (due === undefined) this.remove();
      else this.set(due ? secondsSince(due, clock.now()) : 0);
    },
  });
  new Gauge({
    name: "partner_api_backlog",
    help: "Waiting deliveries: exact up to 10,000, estimated above, absent while the database is unavailable",
    labelNames: ["state"],
    registers,
    async collect() {
      this.reset();
      const backlog = await askBacklog();
      if (!backlog) return;
      this.set({ state: "due" }, backlog.due);
      this.set({ state: "scheduled" }, backlog.scheduled);
    },
  });
  new Gauge({
    name: "partner_api_clock_skew_seconds",
    help: "Seconds by which the database's clock is ahead of this machine's, at the last measurement",
    registers,
    collect() {
      this.set(clock.skewMs / 1000);
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
}

/** Exposes how much expired history waits for EXPORT_COMMAND. */
export function watchExports(
  registers: Registry[],
  { db }: Pick<Watched, "db">,
  databaseMs: number,
): void {
  const askCounts = keptInTime(databaseMs, () => countExports(db.within(databaseMs)));
  new Gauge({
    name: "partner_api_history_exports",
    help: "Detached partitions that wait for their export, and those whose last export failed; absent while the database is unavailable",
    labelNames: ["state"],
    registers,
    async collect() {
      this.reset();
      const counts = await askCounts();
      if (!counts) return;
      this.set({ state: "waiting" }, counts.waiting);
      this.set({ state: "failing" }, counts.failing);
    },
  });
}

/** Undefined if the database does not answer in time. */
function keptInTime<Found>(databaseMs: number, ask: () => Promise<Found>) {
  return kept(() => within(databaseMs, ask()).catch(() => undefined));
}

function secondsSince(due: Date, now: Date): number {
  return Math.max(0, now.getTime() - due.getTime()) / 1000;
}
