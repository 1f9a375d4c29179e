import { setTimeout as sleep } from "node:timers/promises";
import { dataOf } from "./folders.ts";
import { launch, type Launched, type Server } from "./launch.ts";
import { endOrphans } from "./orphans.ts";
import { isRunning, readPostmaster } from "./postmaster.ts";
import { sendSignal } from "./processes.ts";
import { logOf } from "./server-log.ts";
import { look, type Sight } from "./sight.ts";
import { socketIn } from "./socket-folder.ts";

const POLL_MS = 20;
const RETRY_MS = 100;
// Replaying what a crash left can take a while, and ends.
const PATIENCE_MS = 5 * 60_000;
/** How long a server may be out of reach, at a start or a stop, before we think it lasts. */
const DEAF_MS = 2_000;

// A killed postmaster's backends keep its shared memory until they have noticed.
const ORPHANS = /shared memory block .* in use/;
const PASSES = /in use|already exists/;

/** What may be done for a server that cannot be reached. What is forbidden, others may be relying on. */
export interface Remedies {
  /** Start one, though another may live where we do not see it. */
  start: boolean;
  /** Stop one that lives. */
  stop: boolean;
}

/** Starts the server if none runs, and returns once it takes connections. Call it under the lock. */
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
    const sight = await look(data, socket);
    // One just launched can only be stopped once it has written down its pid.
    if (launched === null || sight.kind !== "dead") signal?.throwIfAborted();
    const isLost = sight.kind === "deaf" || (sight.kind === "dead" && !may.start);
    if (!isLost) reachable = performance.now();

    if (sight.kind === "serving") return;
    // A SIGTERM from outside would wait for all sessions, ours too, and let nobody in meanwhile.
    if (sight.kind === "stopping") sendSignal(sight.pid, "SIGINT");
    if (isLost && performance.now() - reachable > DEAF_MS) {
      if (sight.kind === "dead" || !may.stop) throw new Error(describe(sight, socket));
      await stopServer(data);
    }
    if (sight.kind === "dead" && may.start) {
      if (launched?.hasEnded()) launched = await clearUp(launched, data);
      launched ??= await launch(server, sight.pid);
    }
    if (performance.now() - since > PATIENCE_MS) {
      throw new Error(`PostgreSQL does not answer: see ${logOf(server.home)}`);
    }
    await sleep(POLL_MS);
  }
}

/** Makes way for the next start if the last one failed for something that passes. */
async function clearUp(launched: Launched, data: string): Promise<null> {
  const fault = await launched.fault();
  if (!PASSES.test(fault)) throw new Error(`PostgreSQL did not start: ${fault}`);
  if (ORPHANS.test(fault)) endOrphans(data);
  await sleep(RETRY_MS);
  return null;
}

function describe(sight: Sight, socket: string): string {
  const runs =
    sight.kind === "deaf" ? `runs as process ${sight.pid}` : "is used in another container";
  return `PostgreSQL ${runs}, but nobody listens at ${socket}`;
}

/** Stops the server: politely first, which ends all sessions, and at last by force. */
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
