import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { access, constants, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Config, ExportCommand } from "../config/config.ts";
import { after } from "../lib/clock.ts";
import { cut } from "../lib/objects.ts";
import { repeat } from "../lib/parts.ts";
import { isTimedOut } from "../postgres/database.ts";
import { libpqVariables } from "../postgres/driver/libpq-variables.ts";
import {
  claimExport,
  dropExported,
  type HistoryExport,
  recordExportFailed,
  releaseExport,
  renewExport,
} from "../subjects/activity/exports-sql.ts";
import type { Dependencies } from "../subjects/dependencies.ts";
import { partitionsIntervalMs } from "./maintenance.ts";

const SCHEMA = /^(?:[a-z_][a-z0-9_]*|"(?:[^"/\p{C}]|"")+")$/u;
const PARTITION =
  /^(?:events|attempts|finished_deliveries|activity_minutes|activity_hours)_\d{8}_\d{6}(?:_\d{3})?_expired$/;

type HistoryDeps = Pick<Dependencies, "db" | "clock">;

/** How long a lease lasts after it was taken or renewed. */
export const EXPORT_LEASE_MS = 120_000;
/** When a failed export is tried again. */
export const EXPORT_RETRY_MS = 600_000;

/** How a run of the export's program ended. `abandoned`: it was stopped, which is no failure. */
type Exported = { kind: "done" } | { kind: "abandoned" } | { kind: "failed"; why: string };

/** `kept`: exported, but the lease is lost or the retention has become longer. */
type ExportResult = { kind: "dropped" } | { kind: "kept" } | Exclude<Exported, { kind: "done" }>;

/** Takes the next detached partition. One process exports at a time. Null if there is none. */
async function beginExport({ db, clock }: HistoryDeps): Promise<HistoryExport | null> {
  const now = clock();
  return claimExport(db, { now, leasedUntil: after(now, EXPORT_LEASE_MS) });
}

/**
 * Returns the table's name with its schema. Null if no partition of ours has such a name: programs build paths, options and
 * statements from it, and the owner of the server chooses it.
 */
export function exportedTable({
  schema,
  partition,
}: Pick<HistoryExport, "schema" | "partition">): string | null {
  return SCHEMA.test(schema) && PARTITION.test(partition) ? `${schema}.${partition}` : null;
}

/** Returns false if another process has taken the partition over. */
async function keepExport({ db, clock }: HistoryDeps, one: HistoryExport): Promise<boolean> {
  return renewExport(db, one, after(clock(), EXPORT_LEASE_MS));
}

/** Drops the partition if its export is done. Otherwise it waits for the next try. */
async function endExport(
  deps: HistoryDeps,
  one: HistoryExport,
  exported: Exported,
): Promise<ExportResult> {
  const { db, clock } = deps;
  const now = clock();
  switch (exported.kind) {
    case "done":
      try {
        return { kind: (await dropExported(db, one, now)) ? "dropped" : "kept" };
      } catch (error) {
        if (!isTimedOut(error)) throw error;
        return endExport(deps, one, {
          kind: "failed",
          why: "it is exported, but in use: not dropped",
        });
      }
    case "abandoned":
      await releaseExport(db, one, now);
      return exported;
    case "failed": {
      const nextAt = after(now, EXPORT_RETRY_MS);
      await recordExportFailed(db, one, { failure: exported.why, now, nextAt });
      return exported;
    }
  }
}

/** The end of the program's output that is kept. */
const OUTPUT_MAX = 4_096;
/** The time that the program gets to end after SIGTERM. */
const END_MS = 5_000;
/** The time for the rest of the output after the program's end. */
const REST_MS = 1_000;

interface Ran {
  exported: Exported;
  /** The last lines of standard output and standard error. */
  output: string;
}

/**
 * Runs the program with `argument` as its last one. It fails after `limitMs`, and is abandoned when `signal` aborts. Its child
 * processes end with it. Never throws.
 */
async function runExport(
  { program, args, env }: ExportCommand,
  argument: string,
  { limitMs, signal }: { limitMs: number; signal: AbortSignal },
): Promise<Ran> {
  if (signal.aborted) return { exported: { kind: "abandoned" }, output: "" };
  let child: ChildProcess;
  try {
    // A group of its own, so that a signal reaches the children of a script.
    child = spawn(program, [...args, argument], {
      env,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
  } catch (error) {
    return doesNotRun(program, error);
  }
  child.on("error", () => undefined); // Without a listener it ends the service. `once` below reports it.
  let output = "";
  // Out of descriptors, the child has no streams.
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(-OUTPUT_MAX);
    });
  }
  const limit = AbortSignal.timeout(limitMs);
  const ending = new AbortController();
  const onAbort = () => void end(child, ending.signal);
  for (const one of [limit, signal]) one.addEventListener("abort", onAbort);
  const closed = once(child, "close").catch(() => undefined);
  try {
    const [status, killer] = (await once(child, "exit")) as [number | null, string | null];
    kill(child, "SIGKILL");
    await Promise.race([closed, sleep(REST_MS, undefined, { ref: false })]);
    return { exported: judge(), output };

    function judge(): Exported {
      if (status === 0) return { kind: "done" };
      if (signal.aborted) return { kind: "abandoned" };
      if (limit.aborted) return { kind: "failed", why: `took longer than ${limitMs} ms` };
      return {
        kind: "failed",
        why: status === null ? `signal ${killer}` : `exit status ${status}`,
      };
    }
  } catch (error) {
    return doesNotRun(program, error);
  } finally {
    ending.abort();
    for (const one of [limit, signal]) one.removeEventListener("abort", onAbort);
  }
}

function doesNotRun(program: string, error: unknown): Ran {
  const { code, message } = error as NodeJS.ErrnoException;
  const why = `${program} does not run: ${code ?? message}`;
  return { exported: { kind: "failed", why }, output: "" };
}

async function end(child: ChildProcess, ended: AbortSignal): Promise<void> {
  kill(child, "SIGTERM");
  await sleep(END_MS, undefined, { signal: ended }).catch(() => undefined);
  if (!ended.aborted) kill(child, "SIGKILL");
}

/** Sends the signal to the program and its child processes. */
function kill({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone already.
  }
}

/**
 * Throws if root would run the program for the built-in PostgreSQL. The account of the server chooses the program's
 * input, and so could misuse the rights of root.
 */
export function requireSafeExport({
  exportCommand,
  databaseUrl,
}: Pick<Config, "exportCommand" | "databaseUrl">): void {
  if (exportCommand === null || databaseUrl !== null || process.getuid?.() !== 0) return;
  throw new Error(
    "EXPORT_COMMAND: not possible if root runs the service with the built-in PostgreSQL: start it as another user, or set DATABASE_URL",
  );
}

/** Returns the file that is run for this name, as `execvp` finds it. Null if there is none. */
export async function findProgram(name: string, path = ""): Promise<string | null> {
  const paths = name.includes("/") ? [name] : path.split(delimiter).map((one) => join(one, name));
  for (const candidate of paths) if (await isProgram(candidate)) return candidate;
  return null;
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** The time limit of one run of EXPORT_COMMAND. */
const EXPORT_MS_MAX = 6 * 3_600_000;

/** The time limit of the statements before and after a run. */
const STATEMENTS_MS = 60_000;

type Deps = Pick<Dependencies, "db" | "clock">;

interface Exporting {
  log: Logger;
  onError: (error: unknown) => void;
}

/**
 * Exports detached partitions one after the other, and drops each that was exported. No transaction is open while the program
 * runs. Returns how to stop, which ends the program.
 */
export function startExporting(
  deps: Deps,
  {
    command,
    url,
    cell,
    retentionMs,
    ...exporting
  }: Exporting & {
    command: ExportCommand;
    /** The database. The program gets it as libpq's variables. */
    url: string;
    /** The name of the cell. Two cells have tables of one name. */
    cell: string;
    retentionMs: number;
  },
): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const libpq = libpqVariables(url, command.env["PGSSLROOTCERT"]);
  const env = { ...command.env, ...libpq, PARTNER_API_CELL: cell };
  const connected = { ...command, env };
  const exportAll = async () => {
    while (!signal.aborted && (await exportNext(deps, connected, { ...exporting, signal })));
  };
  const stop = repeat(partitionsIntervalMs(retentionMs), exportAll, exporting.onError);
  return async () => {
    stopping.abort();
    await stop();
  };
}

/** Returns false if no partition waits for its export, or if another process exports one. */
export async function exportNext(
  deps: Deps,
  command: ExportCommand,
  options: Exporting & { signal: AbortSignal; limitMs?: number; renewMs?: number },
): Promise<boolean> {
  const inTime = () => ({ ...deps, db: deps.db.within(STATEMENTS_MS) });
  const one = await beginExport(inTime());
  if (one === null) return false;
  const table = exportedTable(one);
  const { exported, output } =
    table === null ? FOREIGN : await runUnderLease(inTime, command, { one, table }, options);
  const result = await endExport(inTime(), one, exported);
  tell(options.log, result, { partition: table ?? cut(one.partition), output });
  return true;
}

const FOREIGN: Ran = {
  exported: { kind: "failed", why: "not the name of a history table" },
  output: "",
};

/** Ends the program if another process has taken the partition over. */
async function runUnderLease(
  inTime: () => Deps,
  command: ExportCommand,
  { one, table }: { one: HistoryExport; table: string },
  {
    signal,
    onError,
    limitMs = EXPORT_MS_MAX,
    renewMs = EXPORT_LEASE_MS / 4,
  }: Parameters<typeof exportNext>[2],
): Promise<Ran> {
  const lost = new AbortController();
  const renew = async () => {
    if (!(await keepExport(inTime(), one))) lost.abort();
  };
  const stopRenewing = repeat(renewMs, renew, onError);
  const ended = AbortSignal.any([signal, lost.signal]);
  try {
    return await runExport(command, table, { limitMs, signal: ended });
  } finally {
    await stopRenewing();
  }
}

function tell(
  log: Logger,
  result: ExportResult,
  facts: { partition: string; output: string },
): void {
  switch (result.kind) {
    case "dropped":
      log.info(facts, "history was exported and dropped");
      break;
    case "kept":
      log.warn(
        facts,
        "history was exported but not dropped: RETENTION is longer now, or another process exports it. You need not do anything",
      );
      break;
    case "failed":
      log.error(
        { ...facts, why: result.why },
        "history was not exported: it is kept, and the export is tried again later",
      );
      break;
    case "abandoned":
      log.info(facts, "the export of history was interrupted: it will start again");
  }
}
