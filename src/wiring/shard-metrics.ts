import { Counter, Gauge, type Registry } from "prom-client";
import type { ActivityLog } from "../actions/activity-log.ts";
import type { Clock } from "../domain/clock.ts";
import { countBacklog, findNextDueOf } from "../postgres/backlog.ts";
import type { Database } from "../postgres/database.ts";
import { kept } from "./kept.ts";
import { within } from "./within.ts";

/** A shard as its metrics see it. */
export interface WatchedShard {
  /** Empty if there is one shard only. */
  labels: { shard?: string };
  db: Database;
  clock: { now: Clock; readonly skewMs: number };
  activity: Pick<ActivityLog, "published">;
}

/** Exposes for each shard its lag, backlog and clock. Shards may be added later. One that is away has no lag and no backlog. */
export function watchShards(
  registers: Registry[],
  shards: readonly WatchedShard[],
  databaseMs: number,
): void {
  const labelNames = ["shard"];
  const askNextDue = keptByShard(shards, databaseMs, (db, now) => findNextDueOf(db, null, now));
  const askBacklog = keptByShard(shards, databaseMs, (db, now) => countBacklog(db, null, now));
  new Gauge({
    name: "partner_api_delivery_lag_seconds",
    help: "Seconds for which the oldest due delivery has been due; 0 if none is due, absent while the database is unavailable",
    labelNames,
    registers,
    async collect() {
      this.reset();
      for (const { shard, found: due } of await askNextDue()) {
        if (due === undefined) this.remove(shard.labels);
        else this.set(shard.labels, due ? secondsSince(due, shard.clock.now()) : 0);
      }
    },
  });
  new Gauge({
    name: "partner_api_backlog",
    help: "Waiting deliveries: exact up to 10,000, estimated above, absent while the database is unavailable",
    labelNames: ["state", ...labelNames],
    registers,
    async collect() {
      this.reset();
      for (const { shard, found: backlog } of await askBacklog()) {
        if (!backlog) continue;
        this.set({ state: "due", ...shard.labels }, backlog.due);
        this.set({ state: "scheduled", ...shard.labels }, backlog.scheduled);
      }
    },
  });
  new Gauge({
    name: "partner_api_clock_skew_seconds",
    help: "Seconds by which the database's clock is ahead of this machine's, at the last measurement",
    labelNames,
    registers,
    collect() {
      for (const { labels, clock } of shards) this.set(labels, clock.skewMs / 1000);
    },
  });
  let told = 0;
  new Counter({
    name: "partner_api_published_events_total",
    help: "Events that this process published",
    registers,
    collect() {
      const published = shards.reduce((sum, { activity }) => sum + activity.published, 0);
      this.inc(published - told);
      told = published;
    },
  });
}

/** Asks all shards at once. Those that do not answer in time have found nothing, and the statement is abandoned. */
export function keptByShard<Found>(
  shards: readonly WatchedShard[],
  databaseMs: number,
  ask: (db: Database, now: Date) => Promise<Found>,
) {
  return kept(() =>
    Promise.all(
      shards.map(async (shard) => {
        const asked = ask(shard.db.within(databaseMs), shard.clock.now());
        const found = await within(databaseMs, asked).catch(() => undefined);
        return { shard, found };
      }),
    ),
  );
}

function secondsSince(due: Date, now: Date): number {
  return Math.max(0, now.getTime() - due.getTime()) / 1000;
}
