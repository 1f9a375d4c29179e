import { setTimeout as sleep } from "node:timers/promises";
import { dataOf } from "./folders.ts";
import { launch, type Launched, type Server } from "./launch.ts";
import { endOrphans } from "./orphans.ts";
import { isRunning, readPostmaster } from "./postmaster.ts";
import { sendSignal } from "./processes.ts";
import { logOf } from "./server-log.ts";
import { observe, type ServerState } from "./server-state.ts";
import { socketIn } from "./socket-folder.ts";

const POLL_MS = 20;
const RETRY_MS = 100;
// A recovery after a crash can take minutes.
const PATIENCE_MS = 5 * 60_000;
/** How long a server may not respond during its start or stop. */
const DEAF_MS = 2_000;

// The backends of a killed postmaster keep its shared memory until they notice.
const ORPHANS = /shared memory block .* in use/;
const PASSES = /in use|already exists/;

/** The permitted steps against a server that does not respond. Other processes may rely on it. */
export interface Remedies {
  /** Start a server, although another one may run where we do not see it. */
  start: boolean;
  /** Stop a running server. */
  stop: boolean;
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
  const fault = await launched.fault();
  if (!PASSES.test(fault)) throw new Error(`PostgreSQL did not start: ${fault}`);
  if (ORPHANS.test(fault)) endOrphans(data);
  await sleep(RETRY_MS);
  return null;
}

function describe(state: ServerState, socket: string): string {
  const uses =
    state.kind === "deaf"
      ? `PostgreSQL runs as process ${state.pid}`
      : "another container uses this DATA_DIR";
  return `${uses}, but nothing listens on ${socket}: stop all processes that use DATA_DIR, and start again`;
}

/** Stops the server: by a fast shutdown, which ends all sessions, and finally by force. */
export async function stopServer(data: string): Promise<void> {
  const seen = readPostmaster(data);
  const isGone = () => seen === null || !isRunning(seen, data);

  for (const [signal, patienceMs] of [
    ["SIGINT", 10_000],
    ["SIGQUIT", 6_000],
    ["SIGKILL", 1_000],
  ] as const) {
    if (seen === null || isGone()) return;
    sendSignal(seen.pid, signal);
    const since = performance.now();
    while (!isGone() && performance.now() - since < patienceMs) await sleep(POLL_MS);
  }
}
