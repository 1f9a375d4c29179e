import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { linkBinaries } from "../binaries.ts";
import type { ServeJob } from "../keeper-process.ts";
import { listPresent, type Presence, showPresence, sharesPids, withLock } from "../presence.ts";
import { watch } from "../watch.ts";
import { ensureCluster } from "./cluster.ts";
import {
  dataOf,
  dropSocketFolder,
  makeFolder,
  openLog,
  prepareSocketFolder,
  socketIn,
} from "./files.ts";
import { ensureRunning, isServing, type Server, stopServer } from "./server.ts";

const TRIM_INTERVAL_MS = 60_000;

// Relative to the home, because the path of a socket must be short.
const LOCK = "lock";
const ATTACHED = "attached";
const BINARIES = "binaries";

/** A process's use of a server, which is created, started and restarted as needed. */
interface Attachment {
  socketFolder: string;
  /** The last one to detach stops the server. */
  detach: () => Promise<void>;
}

/** Attaches this process, whose working folder is the home, to the home's server. */
export async function attach(
  { folder: home, binaries: installed, settings }: ServeJob,
  log: (message: string) => void,
): Promise<Attachment> {
  const binaries = await linkBinaries(installed, BINARIES);
  for (const folder of [LOCK, ATTACHED]) await makeFolder(folder);

  const { server, presence } = await withLock(LOCK, enter);
  const socket = socketIn(server.socketFolder);
  let isDown = false;
  const endWatch = watch({ isServing: () => isServing(dataOf(home), socket), restart, log });
  const trimming = setInterval(trimLog, TRIM_INTERVAL_MS);
  return { socketFolder: server.socketFolder, detach };

  async function enter(): Promise<{ server: Server; presence: Presence }> {
    await ensureCluster(home, binaries, { durable: settings["fsync"] !== "off", log });
    const socketFolder = await prepareSocketFolder(home);
    const server = { home, binaries, settings, socketFolder };
    const others = await listPresent(ATTACHED);
    await ensureRunning(server, { start: others.every(sharesPids), stop: others.length === 0 });
    return { server, presence: await showPresence(ATTACHED) };
  }

  async function detach(): Promise<void> {
    clearInterval(trimming);
    await endWatch();
    await withLock(LOCK, async () => {
      await presence.remove();
      if ((await listPresent(ATTACHED)).length > 0) return;
      await stopServer(dataOf(home));
      await dropSocketFolder(home);
    });
  }

  async function restart(signal: AbortSignal): Promise<void> {
    const work = async () => {
      if (await isServing(dataOf(home), socket)) return; // Another process was faster.
      if (!isDown) log("PostgreSQL has stopped: starting it again");
      isDown = true;
      await ensureRunning(server, { start: true, stop: true }, signal);
      isDown = false;
    };
    await withLock(LOCK, work, signal);
  }

  function trimLog(): void {
    const trimming = openLog(home).then((file) => file.close());
    trimming.catch((error: unknown) =>
      log(`PostgreSQL's log cannot be truncated: ${String(error)}`),
    );
  }
}

/** Removes the content of the home, and ends a server that a killed process left running in it. */
export async function emptyHome(home: string): Promise<void> {
  for (const folder of [LOCK, ATTACHED]) await makeFolder(folder);
  await withLock(LOCK, async () => {
    if ((await listPresent(ATTACHED)).length > 0) throw new Error(`${home} is in use`);
    await stopServer(dataOf(home));
    await dropSocketFolder(home);
    for (const name of await readdir(home)) {
      await rm(join(home, name), { recursive: true, force: true });
    }
  });
}
