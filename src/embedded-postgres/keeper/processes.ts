import { readFileSync } from "node:fs";

/** Whether a process of ours has this pid. A zombie has none any more. */
export function isAlive(pid: number): boolean {
  if (!hasPid(pid)) return false;
  const stat = readProc(`${pid}/stat`);
  // The program's name stands in parentheses and may hold anything, parentheses and spaces too.
  return stat === null || !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
}

/** Whether a process that we may signal has this pid, be it a zombie. One of another account is none of ours. */
export function hasPid(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Sends a signal to a process that may end in this very moment. */
export function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (hasPid(pid)) throw error;
  }
}

/** A file below /proc, or null where there is none to read. */
export function readProc(path: string): string | null {
  try {
    return readFileSync(`/proc/${path}`, "utf8").trim();
  } catch {
    return null;
  }
}
