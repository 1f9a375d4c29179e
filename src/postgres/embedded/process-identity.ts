import { readFileSync } from "node:fs";

const bootId = readProc("sys/kernel/random/boot_id")?.slice(0, 8) ?? "";

/**
 * A name that no other process has, had or will have: a pid alone comes round again. Null when no
 * such process lives; a zombie does not. Where /proc tells nothing, the pid has to do.
 */
export function identify(pid: number): string | null {
  const stat = readProc(`${pid}/stat`);
  if (stat === null) return pidExists(pid) ? `${pid}-` : null;

  // The program's name stands in parentheses and may hold anything, parentheses and spaces too.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const startTime = fields[18];
  return state === "Z" || state === "X" ? null : `${pid}-${startTime ?? ""}-${bootId}`;
}

/** Whether the process that `identify` named so still lives. */
export function isAlive(identity: string): boolean {
  const pid = Number.parseInt(identity, 10);
  const found = identify(pid);
  return found !== null && (found === identity || found === `${pid}-`);
}

/** Whether the kernel still knows the pid, be it as a zombie or as somebody else's process. */
export function pidExists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Sends a signal to a process that may end in this very moment. */
export function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (pidExists(pid)) throw error;
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
