import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Consequences } from "../actions/attempts.ts";
import type { Attempt } from "../domain/attempt.ts";
import { INTERNAL_FAULTS, type InternalFault } from "../domain/outcome.ts";
import type { App } from "../http/app.ts";
import { type Watched, watchDatabase, watchExports } from "./database-metrics.ts";
import { exposeBuild, measureEndToEnd } from "./delivery-metrics.ts";
import { watchDisk } from "./machine-metrics.ts";

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
  expose(): Promise<{ contentType: string; body: string }>;
}

/** The database's time limit. If one metric made the scrape time out, all others would be lost, too. */
const DATABASE_MS = 2_000;

/** Returns the metrics for Prometheus. None counts a table, so a scrape costs the same with any backlog. */
export function createMetrics(watched: Watched, databaseMs = DATABASE_MS): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });

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
        registers,
        collect() {
          this.set(slots.busy);
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
  };
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
