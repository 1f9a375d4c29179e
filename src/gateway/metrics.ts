import { collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Exposition } from "../http/operator-app.ts";
import { exposeBuild, type Metrics } from "../observe/metrics.ts";
import type { CellWatch } from "./cell.ts";
import type { Cells } from "./cells.ts";

interface GatewayMetrics extends Pick<Metrics, "noteRequest"> {
  noteAsked: CellWatch["asked"];
  /** Exposes which cells work. */
  watchCells(cells: Cells["all"]): void;
  expose(): Promise<Exposition>;
}

/** Returns the gateway's metrics for Prometheus. */
export function createGatewayMetrics(): GatewayMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  exposeBuild(registers);
  const buckets = [0.002, 0.01, 0.05, 0.25, 1, 5];
  const requests = new Histogram({
    name: "partner_api_request_duration_seconds",
    help: "Time from the arrival of a request to the end of its response",
    labelNames: ["method", "route", "status"],
    ...{ buckets, registers },
  });
  const asked = new Histogram({
    name: "partner_api_cell_request_duration_seconds",
    help: "Time of a request to a cell; status 0: no response",
    labelNames: ["cell", "status"],
    ...{ buckets, registers },
  });
  return {
    noteRequest: ({ method, route, status, seconds }) =>
      requests.observe({ method, route, status }, seconds),
    noteAsked: (cell, { status, seconds }) => asked.observe({ cell, status }, seconds),
    watchCells(cells) {
      new Gauge({
        name: "partner_api_cell_up",
        help: "1 if the cell responds and its database works, otherwise 0",
        labelNames: ["cell"],
        registers,
        async collect() {
          const checks = await Promise.all(cells.map((cell) => cell.probe()));
          for (const { name, ok } of checks) this.set({ cell: name }, Number(ok));
        },
      });
    },
    expose: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
}
