import { readdirSync, readlinkSync, realpathSync } from "node:fs";
import { readProc, sendSignal } from "./processes.ts";

/**
 * Ends what a killed postmaster has left behind: a backend in the middle of a long statement does
 * not notice, and keeps the next server out. What it had not committed, recovery undoes. Only for
 * when no postmaster runs on the data folder, and of use only where /proc shows the orphans.
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
