import { statfs } from "node:fs/promises";
import {
  AggregatorRegistry,
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  Registry,
} from "prom-client";
import type { App } from "../http/app.ts";
import type { Clock } from "../lib/clock.ts";
import { kept } from "../lib/kept.ts";
import { within } from "../lib/parts.ts";
import { VERSION } from "../lib/product.ts";
import type { Database } from "../postgres/database.ts";
import type { Utilization } from "../queue/pace.ts";
import { endToEndMs } from "../subjects/activity/counted.ts";
import { countExports } from "../subjects/activity/exports-sql.ts";
import type { ActivityLog } from "../subjects/activity/log.ts";
import type { Consequences } from "../subjects/deliveries/attempts.ts";
import { type Attempt, INTERNAL_FAULTS, type InternalFault } from "../subjects/deliveries/rules.ts";
import { countBacklog, findNextDueOf } from "../subjects/deliveries/sql.ts";

/** The database as its metrics see it. */
interface Watched {
  db: Database;
  clock: { now: Clock; readonly skewMs: number };
  activity: Pick<ActivityLog, "published">;
}

/** Exposes lag, backlog and clock. While the database is unavailable there is no lag and no backlog. */
function watchDatabase(
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
    help: "Seconds for which the oldest due delivery that is not held has been due; 0 if none is due, absent while the database is unavailable",
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
      this.set({ state: "held" }, backlog.held);
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
function watchExports(
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

/** Exposes the version. */
export function exposeBuild(registers: Registry[]): void {
  new Gauge({
    name: "partner_api_build_info",
    help: "The running version; the value is always 1",
    labelNames: ["version", "node"],
    registers,
  }).set({ version: VERSION, node: process.version }, 1);
}

/** Measures the time from publishing to the end of the successful attempt. */
function measureEndToEnd(registers: Registry[]): (consequences: Consequences) => void {
  const durations = new Histogram({
    name: "partner_api_end_to_end_seconds",
    help: "Time from publishing an event to its delivery",
    buckets: [0.01, 0.05, 0.25, 1, 5, 30, 120, 600, 3_600, 21_600, 86_400, 172_800],
    registers,
  });
  return ({ recorded }) => {
    for (const { attempt, state } of recorded) {
      if (state === "delivered")
        durations.observe(endToEndMs(attempt.claim.id, attempt.endedAt) / 1000);
    }
  };
}

/** Exposes the disk of the built-in database. */
export function watchDisk(registers: Registry[], databaseFolder: string): void {
  new Gauge({
    name: "partner_api_data_disk_size_bytes",
    help: "Size of the disk of the built-in database",
    registers,
    async collect() {
      const { blocks, bsize } = await statfs(databaseFolder);
      this.set(blocks * bsize);
    },
  });
  new Gauge({
    name: "partner_api_data_disk_free_bytes",
    help: "Space that the service can use on the disk of the built-in database",
    registers,
    async collect() {
      const { bavail, bsize } = await statfs(databaseFolder);
      this.set(bavail * bsize);
    },
  });
}

export interface Metrics {
  /** Exposes the number of running attempts. */
  watchAttempts(slots: { readonly busy: number }): void;
  /** Exposes the disk of the built-in database. */
  watchDisk(databaseFolder: string | null): void;
  /** Exposes how much history waits for its export. */
  watchExports(): void;
  noteEnded(attempt: Attempt): void;
  noteRecorded(consequences: Consequences): void;
  noteFault(fault: InternalFault): void;
  noteRequest(request: { method: string; route: string; status: number; seconds: number }): void;
  expose(): Promise<Exposed>;
  /** Returns the values, which another process adds up. */
  read(): Promise<MetricValues>;
}

interface Exposed {
  contentType: string;
  body: string;
}

/** All metrics of a process. */
export type MetricValues = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>;

/** The database's time limit. If one metric made the scrape time out, all others would be lost, too. */
const DATABASE_MS = 2_000;

/**
 * Returns the metrics for Prometheus. None counts a table, so a scrape costs the same with any backlog. `worker`: the process is
 * one of several that are scraped as one, and what describes only a process has its number as a label.
 */
export function createMetrics(
  watched: Watched,
  worker: number | null = null,
  databaseMs = DATABASE_MS,
): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const labels = worker === null ? {} : { worker: `${worker}` };
  collectDefaultMetrics({ register: registry, labels });

  const attempts = new Counter({
    name: "partner_api_attempts_total",
    help: "Finished delivery attempts",
    labelNames: ["outcome"],
    registers,
  });
  const durations = new Histogram({
    name: "partner_api_attempt_duration_seconds",
    help: "Time from the start of an attempt to its outcome",
    buckets: [0.005, 0.02, 0.1, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const faults = new Counter({
    name: "partner_api_internal_faults_total",
    help: "Deliveries postponed because of an internal fault",
    labelNames: ["fault"],
    registers,
  });
  for (const fault of INTERNAL_FAULTS) faults.inc({ fault }, 0); // Otherwise the first fault would not show as an increase.
  const deadLetters = new Counter({
    name: "partner_api_dead_letters_total",
    help: "Deliveries dead-lettered after their last attempt",
    registers,
  });
  const disabled = new Counter({
    name: "partner_api_subscriptions_disabled_total",
    help: "Subscriptions disabled after consecutive failures",
    registers,
  });
  const noteEndToEnd = measureEndToEnd(registers);
  const requests = new Histogram({
    name: "partner_api_request_duration_seconds",
    help: "Time from the arrival of a request to the end of its response",
    labelNames: ["method", "route", "status"],
    buckets: [0.002, 0.01, 0.05, 0.25, 1, 5],
    registers,
  });
  exposeBuild(registers);
  watchDatabase(registers, watched, databaseMs);

  return {
    watchAttempts(slots) {
      new Gauge({
        name: "partner_api_attempts_under_way",
        help: "Attempts in flight in this process",
        labelNames: Object.keys(labels),
        registers,
        collect() {
          this.set(labels, slots.busy);
        },
      });
    },
    watchDisk(databaseFolder) {
      if (databaseFolder !== null) watchDisk(registers, databaseFolder);
    },
    watchExports() {
      watchExports(registers, watched, databaseMs);
    },
    noteEnded({ outcome, startedAt, endedAt }) {
      attempts.inc({ outcome: outcome.kind === "unreachable" ? outcome.reason : outcome.kind });
      durations.observe(Math.max(0, endedAt.getTime() - startedAt.getTime()) / 1000);
    },
    noteRecorded(consequences) {
      deadLetters.inc(consequences.deadLettered.length);
      disabled.inc(consequences.disabled.length);
      noteEndToEnd(consequences);
    },
    noteFault(fault) {
      faults.inc({ fault });
    },
    noteRequest({ method, route, status, seconds }) {
      requests.observe({ method, route, status }, seconds);
    },
    async expose() {
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
    read: async () => registry.getMetricsAsJSON(),
  };
}

/** Exposes the metrics of several processes as one. */
export async function exposeSum(values: MetricValues[]): Promise<Exposed> {
  const sum = sumOf(values);
  return { contentType: sum.contentType, body: await sum.metrics() };
}

/** Adds up what processes that have ended had counted. Their gauges have ended with them. */
export async function addUpCounts(values: MetricValues[]): Promise<MetricValues> {
  const counts = values.map((all) => all.filter(({ type }) => !isGauge(type)));
  return sumOf(counts).getMetricsAsJSON();
}

/** Gauges describe the database, which is the same for all, or one process, whose number they have as a label. */
function sumOf(values: MetricValues[]): Registry {
  return AggregatorRegistry.aggregate(
    values.map((all) =>
      all.map((metric) => ({ ...metric, aggregator: isGauge(metric.type) ? "first" : "sum" })),
    ),
  );
}

/** Typed as a number, although the values are texts. */
function isGauge(type: unknown): boolean {
  return type === "gauge";
}

/** Times every request, by route pattern. */
export function measure(app: App, metrics: Pick<Metrics, "noteRequest">): void {
  app.addHook("onResponse", (request, reply, done) => {
    metrics.noteRequest({
      method: request.method,
      route: request.routeOptions.url ?? "none",
      status: reply.statusCode,
      seconds: reply.elapsedTime / 1000,
    });
    done();
  });
}

/** Measures the main thread. Its first result is for the time since the creation. */
export function createUtilization(): Utilization {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
