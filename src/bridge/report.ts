import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { repeat } from "../lib/parts.ts";
import {
  BRIDGE_REPORT_MS,
  type BridgedSource,
  type BridgeReport,
  PROBLEM_MAX,
  SOURCES_REPORTED,
} from "../subjects/bridges/rules.ts";
import { lagWithin } from "./metrics.ts";
import type { Publisher } from "./publisher.ts";
import type { Pump } from "./pump.ts";

interface ReportOptions {
  version: string;
  publisher: Publisher;
  everyMs?: number | undefined;
}

interface Reported {
  name: string;
  kind: string;
  pump: Pump;
}

/**
 * Tells the service every 10 s what the bridge does, so that the operators' overview shows it. A report that fails is left out: the
 * bridge publishes all the same. Returns how to stop, which takes the bridge out of the overview.
 */
export function startReporting(
  { version, publisher, everyMs = BRIDGE_REPORT_MS }: ReportOptions,
  sources: readonly Reported[],
): () => Promise<void> {
  const id = `brg_${randomUUID()}`;
  const bridge = { version, host: hostname().slice(0, 255) || "unknown", pid: process.pid };
  const report = async () => {
    const views = await Promise.all(sources.slice(0, SOURCES_REPORTED).map(viewSource));
    await publisher.report(id, { ...bridge, sources: views } satisfies BridgeReport);
  };
  const first = report();
  const end = repeat(everyMs, report, () => undefined);
  return async () => {
    await Promise.all([first, end()]);
    await publisher.report(id, null);
  };
}

async function viewSource({ name, kind, pump }: Reported): Promise<BridgedSource> {
  const lag = await lagWithin(() => pump.lag());
  return {
    ...{ name, kind, problem: pump.problem?.slice(0, PROBLEM_MAX) ?? null },
    ...{ lag_messages: counted(lag?.messages), lag_bytes: counted(lag?.bytes) },
    ...pump.totals,
  };
}

/** A position that was read before another one can give less than nothing. */
function counted(lag: number | undefined): number | null {
  return lag === undefined ? null : Math.max(0, Math.round(lag));
}
