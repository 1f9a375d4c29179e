import { readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { isAlive, readProc } from "./processes.ts";
import { readRegular } from "./regular-file.ts";

/** The content of `postmaster.pid`, which the server's main process writes. */
export interface Postmaster {
  pid: number;
  /** The last status that it wrote. It may have ended since. */
  state: "starting" | "ready" | "stopping";
}

/**
 * Reads the pid file of a data folder. Returns null if there is none. The process may have ended. Throws if the file cannot be read:
 * a server must not be taken for dead because we have no descriptor left.
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

/** Returns true if the process runs and is the postmaster of this folder. Another process may have its pid now. */
export function isRunning({ pid }: Postmaster, data: string): boolean {
  if (!isAlive(pid)) return false;
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(data); // A postmaster's working folder is its data folder.
  } catch {
    const name = readProc(`${pid}/comm`); // More accounts may read this than the folder.
    return name === null || name === "postgres";
  }
}
