import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import type { HealthChecks } from "../http/health.ts";
import { Opened } from "../lib/parts.ts";
import { checkWorkers, type Readiness } from "../observe/health.ts";
import { createLogger, openLogOutput, warnOfExceptions } from "../observe/log.ts";
import { addUpCounts, exposeSum, type Metrics, type MetricValues } from "../observe/metrics.ts";
import type { Check } from "../subjects/activity/rules.ts";
import { type Answers, type Membership, superviseWorkers, type Workers } from "../workers/index.ts";
import { openDatabase, requireConnections } from "./database.ts";

/** What `npx` and `npm start` run, too. */
const PROGRAM = fileURLToPath(new URL("../../../bin/partner-api.js", import.meta.url));

/** The questions that workers answer. */
const ASKED = {
  partners: "ready for partners",
  operators: "ready for operators",
  metrics: "metrics",
};

/** How many processes `WORKERS` asks for. */
export async function countWorkers({ workers }: Pick<Config, "workers">): Promise<number> {
  return workers === "auto" ? workersFor(availableParallelism(), await readQuota()) : workers;
}

/** The quota of the container's control group as version 2 writes it, `50000 100000`. Version 1 has a file for each number. */
export async function readQuota(folder = "/sys/fs/cgroup"): Promise<string> {
  const read = (name: string) => readFile(join(folder, name), "utf8").catch(() => "");
  const quota = await read("cpu.max");
  if (quota !== "") return quota;
  return `${(await read("cpu/cpu.cfs_quota_us")).trim()} ${await read("cpu/cpu.cfs_period_us")}`;
}

/** `quota`: see `readQuota`. Node.js 20 counts the cores of the machine. */
export function workersFor(cores: number, quota: string): number {
  const [, us, periodUs] = /^(\d+) (\d+)/.exec(quota) ?? [];
  const permitted = us === undefined ? cores : Math.min(cores, Number(us) / Number(periodUs));
  return Math.max(1, Math.floor(permitted / 2));
}

/** The workers of a service, as one. */
interface Supervised {
  drain(): Promise<void>;
  stop(cause?: Error): Promise<void>;
}

/** Opens the database, and starts that many workers on it. Resolves when all are ready. */
export async function startWorkers(config: Config, count: number): Promise<Supervised> {
  const log = createLogger(config.logLevel, await openLogOutput());
  const opened = new Opened();
  const workers = await open(config, count, { log, opened }).catch(async (error: unknown) => {
    await opened.close().catch(() => undefined); // The first error is told.
    throw error;
  });
  let stopping: Promise<boolean> | undefined;
  const stopWorkers = () => (stopping ??= workers.stop());
  return {
    drain: async () => {
      void stopWorkers(); // They drain, too.
      await sleep(config.drainMs);
    },
    stop: async (cause) => {
      if (cause) log.fatal({ err: cause }, "unexpected error: stopping the service");
      const haveEndedWell = await stopWorkers();
      await opened.close();
      log.info("stopped");
      if (!haveEndedWell) process.exit(1); // A worker has said why.
    },
  };
}

async function open(
  config: Config,
  count: number,
  { log, opened }: { log: Logger; opened: Opened },
): Promise<Workers> {
  const { db, url, close } = await openDatabase(config, (message) => log.info(message), {
    max: 1,
    writesRetention: true,
  });
  opened.add(close);
  await requireConnections(db, count);
  const workers = await superviseWorkers({
    ...{ count, program: PROGRAM, args: ["serve"], databaseUrl: url, log },
    counts: { what: ASKED.metrics, addUp: (counts) => addUpCounts(counts as MetricValues[]) },
  });
  warnOfExceptions(config, log);
  log.info({ ...(workers.facts as object), workers: count }, "ready");
  return workers;
}

/** How all workers together answer probes and scrapes. */
export function wholeOf(
  membership: Membership,
  { health, metrics }: { health: Readiness; metrics: Metrics },
): {
  health: Record<"forPartners" | "forOperators", HealthChecks>;
  metrics: Pick<Metrics, "expose">;
} {
  const together = (what: string, own: HealthChecks): HealthChecks => {
    membership.answer(what, () => own.ready());
    return { ready: async () => checkWorkers(checksOf(await membership.ask(what))) };
  };
  membership.answer(ASKED.metrics, () => metrics.read());
  return {
    health: {
      forPartners: together(ASKED.partners, health.forPartners),
      forOperators: together(ASKED.operators, health.forOperators),
    },
    metrics: {
      expose: async () => {
        const { ready, ended } = await membership.ask(ASKED.metrics);
        const values = [...ready.map(({ value }) => value), ended].filter((one) => one !== null);
        return exposeSum(values as MetricValues[]);
      },
    },
  };
}

function checksOf({ ready, count }: Answers): Parameters<typeof checkWorkers>[0] {
  return { checks: ready.map(({ value }) => value as Check[] | null), count };
}
