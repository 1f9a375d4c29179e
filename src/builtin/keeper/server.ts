import { spawn } from "node:child_process";
import { once } from "node:events";
import { lstatSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Binaries } from "../binaries.ts";
import { endOf } from "../keeper-process.ts";
import { tryConnect } from "../presence.ts";
import {
  dataOf,
  isAbsent,
  logOf,
  openLog,
  prepareSocketFolder,
  readRegular,
  socketIn,
} from "./files.ts";
import {
  doesNotRun,
  endOrphans,
  faultIn,
  hasPid,
  isRunning,
  readPostmaster,
  sendSignal,
  SURROUNDINGS,
} from "./processes.ts";
import { writeSettings } from "./settings.ts";

const POLL_MS = 20;
const RETRY_MS = 100;
// A recovery after a crash can take minutes.
const PATIENCE_MS = 5 * 60_000;
/** How long a server may not respond during its start or stop. */
const DEAF_MS = 2_000;
/** To stop a server: by a fast shutdown, which ends all sessions, and finally by force. */
const STOPPING = [
  ["SIGINT", 10_000],
  ["SIGQUIT", 6_000],
  ["SIGKILL", 1_000],
] as const;

// The backends of a killed postmaster keep its shared memory until they notice.
const ORPHANS = /shared memory block .* in use/;
const PASSES = /in use|already exists/;

export interface Server {
  home: string;
  binaries: Binaries;
  /** In addition to ours. */
  settings: Record<string, string>;
  /** The folder in which its users expect the socket. */
  socketFolder: string;
}

/** The visible state of a server. A server that listens is alive, even if we do not see its process. */
type State =
  | { kind: "serving" | "starting" }
  | { kind: "stopping"; pid: number }
  /** The pid file says ready, but nothing listens on the socket. `why` is the error's code. */
  | { kind: "deaf"; pid: number; why: string }
  /** The pid in the file that it left, if any. */
  | { kind: "dead"; pid: number | null };

/** The permitted steps against a server that does not respond. Other processes may rely on it. */
interface Remedies {
  /** Start a server, although another one may run where we do not see it. */
  start: boolean;
  /** Stop a running server. */
  stop: boolean;
}

interface Launched {
  hasEnded: () => boolean;
  /** The cause of its end, in one line. */
  fault: () => string;
}

export async function observe(data: string, socket: string): Promise<State> {
  const why = await tryConnect(socket);
  const seen = readPostmaster(data);
  const isReady = seen?.state === "ready";

  if (seen === null || !isRunning(seen, data)) {
    if (why !== null) return { kind: "dead", pid: seen?.pid ?? null };
    return { kind: isReady ? "serving" : "starting" };
  }
  const { pid, state } = seen;
  if (state !== "ready") return { kind: state, pid };
  return why === null ? { kind: "serving" } : { kind: "deaf", pid, why };
}

/** Returns true if the server runs and does not stop. Cheaper than `observe`: does not connect. */
export async function isServing(data: string, socket: string): Promise<boolean> {
  const seen = readPostmaster(data);
  if (seen === null || seen.state === "stopping" || !isSocket(socket)) return false;
  return isRunning(seen, data) || (await tryConnect(socket)) === null;
}

function isSocket(path: string): boolean {
  try {
    return lstatSync(path).isSocket();
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}

/** Starts the server if none runs. Resolves when it accepts connections. Call it under the lock. */
export async function ensureRunning(
  server: Server,
  may: Remedies,
  signal?: AbortSignal,
): Promise<void> {
  const data = dataOf(server.home);
  const socket = socketIn(server.socketFolder);
  const since = performance.now();
  let reachable = since;
  let launched: Launched | null = null;

  for (;;) {
    const state = await observe(data, socket);
    // A new server can be stopped only after it has written its pid.
    if (launched === null || state.kind !== "dead") signal?.throwIfAborted();
    const isLost = state.kind === "deaf" || (state.kind === "dead" && !may.start);
    if (!isLost) reachable = performance.now();

    if (state.kind === "serving") return;
    // After a SIGTERM from outside, a server waits for all sessions, ours included, and accepts no new ones.
    if (state.kind === "stopping") sendSignal(state.pid, "SIGINT");
    if (isLost && performance.now() - reachable > DEAF_MS) {
      if (state.kind === "dead" || !may.stop) throw new Error(describe(state, socket));
      await stopServer(data);
    }
    if (state.kind === "dead" && may.start) {
      if (launched?.hasEnded()) launched = await clearUp(launched, data);
      launched ??= await launch(server, state.pid);
    }
    if (performance.now() - since > PATIENCE_MS) {
      throw new Error(`PostgreSQL does not answer: see ${logOf(server.home)}`);
    }
    await sleep(POLL_MS);
  }
}

/** Allows another start if the cause of the failure is temporary. Otherwise throws. */
async function clearUp(launched: Launched, data: string): Promise<null> {
  const fault = launched.fault();
  if (!PASSES.test(fault)) throw new Error(`PostgreSQL did not start: ${fault}`);
  if (ORPHANS.test(fault)) endOrphans(data);
  await sleep(RETRY_MS);
  return null;
}

function describe(state: State, socket: string): string {
  const uses =
    state.kind === "deaf"
      ? `PostgreSQL runs as process ${state.pid}`
      : "another container uses this DATA_DIR";
  return `${uses}, but nothing listens on ${socket}: stop all processes that use DATA_DIR, and start again`;
}

/** Starts a server. `deadPid` is the pid of the one before. */
async function launch(server: Server, deadPid: number | null): Promise<Launched> {
  const { home, binaries, settings, socketFolder } = server;
  if ((await prepareSocketFolder(home)) !== socketFolder) {
    throw new Error(`the socket's folder ${socketFolder} now belongs to another user`);
  }
  await clearStaleLocks(server, deadPid);
  await writeSettings(home, binaries, { unix_socket_directories: socketFolder, ...settings });

  const log = await openLog(home);
  try {
    const { size } = await log.stat();
    const child = spawn(join(binaries.folder, "bin", "postgres"), ["-D", dataOf(home)], {
      ...SURROUNDINGS,
      stdio: ["ignore", log.fd, log.fd],
    });
    await once(child, "spawn").catch((error: unknown) => {
      throw doesNotRun(error);
    });
    child.unref();
    return {
      hasEnded: () => child.exitCode !== null || child.signalCode !== null,
      fault: () =>
        faultIn(readRegular(logOf(home), size) ?? "") ??
        `it ended with ${endOf(child.exitCode, child.signalCode)}`,
    };
  } finally {
    await log.close();
  }
}

// PostgreSQL takes a lock file for valid if any process has its pid. After a reboot or in a container this is common. The caller has
// checked that the pid is not our postmaster.
async function clearStaleLocks(
  { home, socketFolder }: Server,
  deadPid: number | null,
): Promise<void> {
  if (deadPid !== null && hasPid(deadPid)) {
    await rm(join(dataOf(home), "postmaster.pid"), { force: true });
  }
  const socket = socketIn(socketFolder);
  for (const path of [`${socket}.lock`, socket]) await rm(path, { force: true });
}

/** Stops the server. Returns when it has ended. */
export async function stopServer(data: string): Promise<void> {
  const seen = readPostmaster(data);
  if (seen === null) return;
  for (const [signal, patienceMs] of STOPPING) {
    if (!isRunning(seen, data)) return;
    sendSignal(seen.pid, signal);
    const since = performance.now();
    while (isRunning(seen, data) && performance.now() - since < patienceMs) await sleep(POLL_MS);
  }
}
