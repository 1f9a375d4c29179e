import { readdirSync, readlinkSync, realpathSync } from "node:fs";
import { readProc, sendSignal } from "./processes.ts";

/**
 * Ends the backends that a killed postmaster left behind. A backend in a long statement does not notice, and prevents the next start.
 * Recovery undoes its uncommitted work. Call it only if no postmaster runs on the data folder. It needs /proc.
 */
export function endOrphans(data: string): void {
  const folder = realpathSync(data);
  for (const name of listProcesses()) {
    if (readProc(`${name}/comm`) !== "postgres" || workingFolder(name) !== folder) continue;
    sendSignal(Number(name), "SIGKILL");
  }
}

function listProcesses(): string[] {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

function workingFolder(pid: string): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null;
  }
}
