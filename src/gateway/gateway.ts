import { setTimeout as sleep } from "node:timers/promises";
import type { DestinationStream } from "pino";
import { isLoopback } from "../config/settings.ts";
import { openListener } from "../http/listener.ts";
import { systemClock } from "../lib/clock.ts";
import { Opened } from "../lib/parts.ts";
import { createLogger, openLogOutput } from "../observe/log.ts";
import { measure } from "../observe/metrics.ts";
import type { Check } from "../subjects/activity/rules.ts";
import { buildGatewayApp } from "./app.ts";
import { Cell, type CellWatch } from "./cell.ts";
import { Cells } from "./cells.ts";
import type { GatewayConfig } from "./config.ts";
import { createGatewayMetrics } from "./metrics.ts";

interface Gateway {
  operatorUrl: string;
  /** Takes the gateway out of the load balancer: serves on for `DRAIN`, and reports that it is not ready. */
  drain(): Promise<void>;
  /** Accepts nothing new, waits for running requests, and closes everything. Logs `cause`, if there is one. */
  stop(cause?: Error): Promise<void>;
}

/** Starts the gateway as configured, also while cells are away. Default of `output`: standard output. */
export async function startGateway(
  config: GatewayConfig,
  output?: DestinationStream,
): Promise<Gateway> {
  const log = createLogger(config.logLevel, output ?? (await openLogOutput()));
  const clock = systemClock;
  let isStopping = false;
  const metrics = createGatewayMetrics();
  const watch: CellWatch = {
    asked: metrics.noteAsked,
    away: (cell, why) => log.warn({ cell, why }, "the cell is away: its items are missing"),
    back: (cell) => log.info({ cell }, "the cell works again"),
  };
  const [first, ...others] = config.cells;
  const open = (address: typeof first) => new Cell(address, { clock, watch });
  const cells = new Cells([open(first), ...others.map(open)]);
  metrics.watchCells(cells.all);

  const opened = new Opened();
  opened.add(() => cells.close());
  const app = buildGatewayApp(cells, {
    ...{ logger: log, clock, tokens: config.adminTokens, allowedHosts: config.allowedHosts },
    baseUrl: () => config.baseUrl,
    isStopping: () => isStopping,
    health: { ready: async () => (isStopping ? [STOPPING] : [await checkAny(cells)]) },
    metrics: () => metrics.expose(),
  });
  measure(app, metrics);
  opened.add(() => app.close());
  const operatorUrl = await openListener(app, config.operatorHost, config.operatorPort).catch(
    async (error: unknown) => {
      await opened.close();
      throw error;
    },
  );
  for (const message of config.unfollowed) log.warn(message);
  for (const { name, url } of config.cells)
    if (url.startsWith("http:") && !isLoopback(new URL(url).hostname))
      log.warn(
        { cell: name },
        "CELLS: operators' tokens cross the network in clear text: use https",
      );
  log.info(
    { operators: operatorUrl, console: `${operatorUrl}/console`, cells: config.cells },
    "ready",
  );

  return {
    operatorUrl,
    drain: async () => {
      isStopping = true;
      if (config.drainMs > 0) await sleep(config.drainMs);
    },
    stop: async (cause) => {
      if (cause) log.fatal({ err: cause }, "unexpected error: stopping the gateway");
      isStopping = true;
      log.info("stopping: finishing requests in flight");
      await opened.close();
      log.info("stopped");
    },
  };
}

const STOPPING: Check = { name: "stopping", ok: false };

/** The gateway is ready while any cell works. `detail` names those that do not. */
async function checkAny({ all }: Cells): Promise<Check> {
  const checks = await Promise.all(all.map((cell) => cell.probe()));
  const away = checks.filter(({ ok }) => !ok).map(({ name, detail }) => `${name}: ${detail}`);
  const ok = away.length < all.length;
  return { name: "cells", ok, ...(away.length > 0 && { detail: away.join(", ") }) };
}
