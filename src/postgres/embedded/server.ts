import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Binaries } from "./binaries.ts";
import { dataOf, type Home } from "./home.ts";
import { endOrphans } from "./orphans.ts";
import { answers, isRunning, type Postmaster, readPostmaster } from "./postmaster.ts";
import { pidExists, sendSignal } from "./process-identity.ts";
import { doesNotRun, faultIn, spawnOptions } from "./program.ts";
import { openServerLog } from "./server-log.ts";
import { writeSettings } from "./settings.ts";
import { prepareSocketFolder } from "./socket-folder.ts";

export interface Server {
  home: Home;
  binaries: Binaries;
  settings: Record<string, string>;
}

const POLL_MS = 20;
const RETRY_MS = 100;
// Replaying what a crash left can take a while, and ends.
const PATIENCE_MS = 5 * 60_000;

// A killed postmaster's backends keep its shared memory until they have noticed.
const ORPHANS = /shared memory block .* in use/;
const PASSES = /in use|already exists/;

/** Returns once the server takes connections, whoever started it. Call it under the lock. */
export async function ensureRunning(server: Server, signal?: AbortSignal): Promise<Postmaster> {
  const data = dataOf(server.home);
  const since = performance.now();
  let launched: Launched | null = null;

  for (;;) {
    // One just launched can only be stopped once it has written down its pid.
    if (launched === null) signal?.throwIfAborted();
    const seen = readPostmaster(data);
    if (seen && isRunning(seen, data)) {
      signal?.throwIfAborted();
      if (seen.state === "ready" && (await answers(seen))) return seen;
      // A SIGTERM from outside would wait for all sessions, ours too, and let nobody in meanwhile.
      if (seen.state === "stopping") sendSignal(seen.pid, "SIGINT");
    } else if (launched === null) {
      launched = await launch(server, seen);
    } else if (launched.hasEnded()) {
      const fault = await launched.fault();
      if (!PASSES.test(fault)) throw new Error(`PostgreSQL did not start: ${fault}`);
      if (ORPHANS.test(fault)) endOrphans(data);
      launched = null;
      await sleep(RETRY_MS);
    }
    if (performance.now() - since > PATIENCE_MS) {
      throw new Error(`PostgreSQL does not answer: see ${join(server.home.folder, "server.log")}`);
    }
    await sleep(POLL_MS);
  }
}

/** Stops the server: politely first, which ends all sessions, and at last by force. */
export async function stopServer(server: Server): Promise<void> {
  const data = dataOf(server.home);
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

interface Launched {
  hasEnded: () => boolean;
  /** Why it ended, in one line. */
  fault: () => Promise<string>;
}

async function launch(server: Server, dead: Postmaster | null): Promise<Launched> {
  const { home, binaries, settings } = server;
  const socketFolder = await prepareSocketFolder(home);
  await clearStaleLocks(dataOf(server.home), socketFolder, dead);
  await writeSettings(home, binaries, { unix_socket_directories: socketFolder, ...settings });

  const log = await openServerLog(home);
  try {
    const child = spawn(join(binaries.folder, "bin", "postgres"), ["-D", dataOf(server.home)], {
      ...spawnOptions(home),
      detached: true, // Ctrl-C goes to the terminal's whole process group, and is not for it.
      stdio: ["ignore", log.fd, log.fd],
    });
    await once(child, "spawn").catch((error: unknown) => {
      throw doesNotRun(error);
    });
    child.unref();
    return {
      hasEnded: () => child.exitCode !== null || child.signalCode !== null,
      fault: async () => faultIn(await log.readNew()) ?? `it ended with ${endOf(child)}`,
    };
  } finally {
    await log.close();
  }
}

// PostgreSQL takes a lock file for valid when any process has its pid, which after a reboot, or
// in a container, is often so. That the pid is no postmaster of ours the caller has made sure of.
async function clearStaleLocks(
  data: string,
  socketFolder: string,
  dead: Postmaster | null,
): Promise<void> {
  if (dead && pidExists(dead.pid)) await rm(join(data, "postmaster.pid"), { force: true });
  await rm(join(socketFolder, ".s.PGSQL.5432.lock"), { force: true });
  await rm(join(socketFolder, ".s.PGSQL.5432"), { force: true });
}

function endOf({ exitCode, signalCode }: ChildProcess): string {
  return signalCode ?? `exit code ${exitCode ?? ""}`;
}
