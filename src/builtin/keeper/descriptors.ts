import { closeSync, readdirSync } from "node:fs";
import { readProc } from "./processes.ts";

const CLOSED_AT_EXEC = 0o2000000;

/**
 * Closes the descriptors that our parent inherited. Node.js passes on descriptors that it did not open. Its own are closed at exec.
 */
export function closeInherited(): void {
  for (const fd of listDescriptors()) {
    const [, flags] = /^flags:\s+(\d+)$/m.exec(readProc(`self/fdinfo/${fd}`) ?? "") ?? [];
    if (fd > 2 && flags && (Number.parseInt(flags, 8) & CLOSED_AT_EXEC) === 0) closeSync(fd);
  }
}

function listDescriptors(): number[] {
  try {
    return readdirSync("/proc/self/fd").map(Number);
  } catch {
    return [];
  }
}
