import { rm } from "node:fs/promises";
import { findPackage, prepareBinaries } from "./embedded/binaries.ts";
import { ensureCluster } from "./embedded/cluster.ts";
import { dataOf, makeFolder, openHome } from "./embedded/home.ts";
import { withLock } from "./embedded/lock.ts";
import { listMarks, putMark } from "./embedded/marks.ts";
import { isRunning, readPostmaster } from "./embedded/postmaster.ts";
import { ensureRunning, type Server, stopServer } from "./embedded/server.ts";
import { trimServerLog } from "./embedded/server-log.ts";
import { dropSocketFolder, socketUrl } from "./embedded/socket-folder.ts";
import { watch } from "./embedded/watch.ts";

export { homeFolder } from "./embedded/home.ts";

const TRIM_INTERVAL_MS = 60_000;

export interface EmbeddedPostgres {
  /** For postgres.js and libpq, over a Unix socket. The same for as long as anybody is attached. */
  url: string;
  /** Detaches. The last of all attached processes to do so stops the server. */
  stop(): Promise<void>;
}

/**
 * Attaches this process to the DATA_DIR's own PostgreSQL, which is made and started as needed.
 * While attached, a server that dies is started again. A killed process leaves it to the next one.
 * `settings` are the server's, on top of ours; those of the process that starts it hold.
 */
export async function startEmbedded({
  dataDir,
  log,
  settings = {},
}: {
  dataDir: string;
  log: (message: string) => void;
  settings?: Record<string, string>;
}): Promise<EmbeddedPostgres> {
  const installed = findPackage();
  const home = await openHome(dataDir, log);
  const server: Server = { home, binaries: await prepareBinaries(installed, home), settings };
  const data = dataOf(home);
  const lock = await makeFolder(home, "lock");
  const attached = await makeFolder(home, "attached");

  const { url, mark } = await withLock(lock, attach);
  const endWatch = watch({ isServing, restart, log });
  const trimming = setInterval(trim, TRIM_INTERVAL_MS).unref();
  let isDown = false;
  let detached: Promise<void> | undefined;
  return { url, stop: () => (detached ??= detach()) };

  async function attach() {
    const durable = settings["fsync"] !== "off";
    const cluster = await ensureCluster(home, server.binaries, { durable });
    if (cluster === "made") log(`made a new database in ${home.folder}`);
    const { socketFolder } = await ensureRunning(server);
    return { url: socketUrl(socketFolder), mark: await putMark(attached) };
  }

  async function detach(): Promise<void> {
    clearInterval(trimming);
    await endWatch();
    await withLock(lock, async () => {
      await rm(mark, { force: true });
      if ((await listMarks(attached)).length > 0) return;
      await stopServer(server);
      await dropSocketFolder(home);
    });
  }

  function isServing(): boolean {
    const seen = readPostmaster(data);
    return seen !== null && seen.state !== "stopping" && isRunning(seen, data);
  }

  async function restart(signal: AbortSignal): Promise<void> {
    await withLock(
      lock,
      async () => {
        if (isServing()) return; // Somebody else was faster.
        if (!isDown) log("PostgreSQL has stopped: starting it again");
        isDown = true;
        await ensureRunning(server, signal);
        isDown = false;
      },
      signal,
    );
  }

  function trim(): void {
    trimServerLog(home).catch((error: unknown) => {
      log(`PostgreSQL's log cannot be kept short: ${String(error)}`);
    });
  }
}
