import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { SourceConfiguration } from "./configuration.ts";
import { BridgeMetrics, type Watched } from "./metrics.ts";
import type { Publisher } from "./publisher.ts";
import { type Delays, Pump } from "./pump.ts";
import { startReporting } from "./report.ts";
import type { BridgeLog } from "./source.ts";

interface BridgeOptions {
  sources: readonly SourceConfiguration[];
  publisher: Publisher;
  version: string;
  host: string;
  port: number;
  /** Returns the log of a source. */
  logOf: (source: string) => BridgeLog;
  now: () => Date;
  delays?: Delays;
  /** How often it reports itself. */
  reportMs?: number;
}

export interface RunningBridge {
  url: string;
  /** Publishes and acknowledges the messages in flight, then closes everything. */
  stop(): Promise<void>;
}

/** Runs each source, and a listener for probes and metrics. */
export async function startBridge(options: BridgeOptions): Promise<RunningBridge> {
  const { sources, publisher, logOf, now, delays } = options;
  const metrics = new BridgeMetrics();
  const pumps = sources.map(
    ({ name, mapping, defaults, open }) =>
      [
        name,
        new Pump({
          open,
          becoming: { source: name, mapping, defaults },
          publisher,
          metrics: metrics.of(name, now),
          log: logOf(name),
          now,
          ...(delays ? { delays } : {}),
        }),
      ] as const,
  );
  const watched = pumps.map(([name, pump]) => ({
    name,
    lag: () => pump.lag(),
    held: () => pump.held,
  }));
  let isStopping = false;
  const problems = () => ({
    ...Object.fromEntries(
      pumps.flatMap(([name, pump]) => (pump.problem ? [[name, pump.problem]] : [])),
    ),
    ...(isStopping ? { bridge: "stopping" } : {}),
  });
  const listener = await openListener(options, { problems, metrics, watched });
  for (const [, pump] of pumps) pump.start();
  const reported = pumps.map(([name, pump], i) => ({ name, kind: sources[i]?.kind ?? "", pump }));
  const endReporting = startReporting(
    { version: options.version, publisher, everyMs: options.reportMs },
    reported,
  );
  return {
    url: listener.url,
    stop: async () => {
      isStopping = true;
      await Promise.all(pumps.map(([, pump]) => pump.stop()));
      await endReporting();
      await listener.close();
    },
  };
}

interface Probed {
  /** What is wrong, by source. */
  problems: () => Record<string, string>;
  metrics: BridgeMetrics;
  watched: readonly Watched[];
}

async function openListener({ host, port }: { host: string; port: number }, probed: Probed) {
  const { createServer } = await import("node:http");
  const server = createServer((request, response) => {
    const path = request.url?.split("?")[0] ?? "";
    void answerTo(request.method === "GET" ? path : "", probed).then(({ status, type, body }) => {
      response.writeHead(status, { "content-type": type, "cache-control": "no-store" }).end(body);
    });
  });
  server.listen(port, host);
  await once(server, "listening");
  return { url: urlOf(server), close: () => close(server) };
}

async function answerTo(path: string, { problems, metrics, watched }: Probed) {
  if (path === "/metrics") {
    const { contentType, body } = await metrics.expose(watched);
    return { status: 200, type: contentType, body };
  }
  const found = path === "/readyz" ? problems() : {};
  const isKnown = path === "/readyz" || path === "/healthz";
  const isReady = Object.keys(found).length === 0;
  const body = isKnown
    ? { status: isReady ? "ok" : "unavailable", ...(isReady ? {} : { problems: found }) }
    : { status: "not found" };
  const status = isKnown ? (isReady ? 200 : 503) : 404;
  return { status, type: "application/json", body: `${JSON.stringify(body)}\n` };
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
}
