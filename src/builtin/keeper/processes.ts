import { readFileSync } from "node:fs";

/** Returns true if a process of our account has this pid. Zombies do not count. */
export function isAlive(pid: number): boolean {
  if (!hasPid(pid)) return false;
  const stat = readProc(`${pid}/stat`);
  // The program's name is in parentheses and may contain parentheses and spaces.
  return stat === null || !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
}

/** Returns true if a process that we may signal has this pid, zombies included. */
export function hasPid(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Sends a signal to a process that may have ended. */
export function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (hasPid(pid)) throw error;
  }
}

/** Reads a file below /proc. Returns null if that is not possible. */
export function readProc(path: string): string | null {
  try {
    return readFileSync(`/proc/${path}`, "utf8").trim();
  } catch {
    return null;
  }
}
