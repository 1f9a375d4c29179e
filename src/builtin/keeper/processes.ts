import { execFile, type ExecFileException } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { endOf } from "../keeper-process.ts";
import { readRegular } from "./files.ts";

/** PostgreSQL's programs run in a folder that everybody may enter, without our environment. */
export const SURROUNDINGS = { cwd: "/", env: { LC_ALL: "C" } };

/** The content of `postmaster.pid`, which the server's main process writes. */
interface Postmaster {
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
  const folder = workingFolder(pid); // A postmaster's is its data folder.
  if (folder !== null) return folder === realpathSync(data);
  const name = readProc(`${pid}/comm`); // More accounts may read this than the folder.
  return name === null || name === "postgres";
}

function workingFolder(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null;
  }
}

/** Returns true if a process of our account has this pid. Zombies do not count. */
function isAlive(pid: number): boolean {
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

/**
 * Ends the backends that a killed postmaster left behind. A backend in a long statement does not notice, and prevents the next start.
 * Recovery undoes its uncommitted work. Call it only if no postmaster runs on the data folder. It needs /proc.
 */
export function endOrphans(data: string): void {
  const folder = realpathSync(data);
  for (const pid of listProc("")) {
    if (readProc(`${pid}/comm`) === "postgres" && workingFolder(pid) === folder)
      sendSignal(pid, "SIGKILL");
  }
}

/** The numbers in a folder below /proc: processes or descriptors. Empty without /proc. */
export function listProc(folder: string): number[] {
  try {
    return readdirSync(`/proc/${folder}`).map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** Runs a program to its end. Throws with the line of its output that names the fault. */
export async function runProgram(program: string, args: string[], input = ""): Promise<void> {
  const running = promisify(execFile)(program, args, SURROUNDINGS);
  // A program that ends without reading closes its input. Its exit tells the cause.
  running.child.stdin?.on("error", () => undefined).end(input);
  try {
    await running;
  } catch (error) {
    const { code, signal, stderr = "" } = error as ExecFileException;
    if (typeof code === "string") throw doesNotRun(error);
    const status = endOf(code ?? null, signal ?? null);
    throw new Error(faultIn(stderr) ?? `${program} ended with ${status}`, { cause: error });
  }
}

/** The error for a program that could not be spawned. */
export function doesNotRun(error: unknown): Error {
  const why = error instanceof Error ? error.message : String(error);
  return new Error(`PostgreSQL cannot run here (${why}): set DATABASE_URL`, { cause: error });
}

/** The last fault in a log of PostgreSQL, or else its last line. Null if it is empty. */
export function faultIn(log: string): string | null {
  const faults = [...log.matchAll(/(?:FATAL|PANIC|ERROR|error): +(.+)/g)];
  const [last] = faults.at(-1)?.slice(1) ?? /.+$/.exec(log.trim()) ?? [];
  return last ?? null;
}
