import type { Logger } from "pino";
import type { Dependencies } from "../actions/dependencies.ts";
import {
  beginExport,
  endExport,
  EXPORT_LEASE_MS,
  exportedTable,
  type ExportResult,
  keepExport,
} from "../actions/history-exports.ts";
import type { ExportCommand } from "../config.ts";
import { libpqVariables } from "../postgres/driver/libpq-variables.ts";
import type { HistoryExport } from "../postgres/history-exports.ts";
import { type Ran, runExport } from "./export-program.ts";
import { cut } from "../lib/cut.ts";
import { partitionsTurnMs } from "./maintenance.ts";
import { repeat } from "./repeat.ts";

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
  const stop = repeat(partitionsTurnMs(retentionMs), exportAll, exporting.onError);
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
