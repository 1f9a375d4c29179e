import { readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { isAlive, readProc } from "./processes.ts";
import { readRegular } from "./regular-file.ts";

/** What the server's process, PostgreSQL's postmaster, says of itself in `postmaster.pid`. */
export interface Postmaster {
  pid: number;
  /** What it has last said of itself, be it alive or not. */
  state: "starting" | "ready" | "stopping";
}

/**
 * The postmaster of a data folder as it last described itself, alive or not; null if none has. Fails where that cannot be
 * told: no server may be taken for dead because we have no descriptor left.
 */
export function readPostmaster(data: string): Postmaster | null {
  const lines = (readRegular(join(data, "postmaster.pid")) ?? "").split("\n");
  const pid = Number(lines[0]);
  return Number.isInteger(pid) && pid > 0 ? { pid, state: stateOf(lines[7] ?? "") } : null;
}

function stateOf(line: string): Postmaster["state"] {
  if (line.startsWith("ready")) return "ready";
  return line.startsWith("stopping") ? "stopping" : "starting";
}

/** Whether it lives, and is the postmaster of this folder: its pid may be somebody else's by now. */
export function isRunning({ pid }: Postmaster, data: string): boolean {
  if (!isAlive(pid)) return false;
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(data); // It works in its data folder.
  } catch {
    const name = readProc(`${pid}/comm`); // Which more people may see than the folder.
    return name === null || name === "postgres";
  }
}
