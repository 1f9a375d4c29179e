import { linkBinaries } from "../binaries.ts";
import { withLock } from "../lock.ts";
import { listMarks, type Mark, putMark, sharesPids } from "../marks.ts";
import type { ServeJob } from "../protocol.ts";
import { watch } from "../watch.ts";
import { ensureCluster } from "./cluster.ts";
import { dataOf, makeFolder } from "./folders.ts";
import type { Server } from "./launch.ts";
import { ensureRunning, stopServer } from "./server.ts";
import { trimServerLog } from "./server-log.ts";
import { isServing } from "./server-state.ts";
import { dropSocketFolder, prepareSocketFolder, socketIn } from "./socket-folder.ts";

const TRIM_INTERVAL_MS = 60_000;

// Relative to the home, because the path of a socket must be short.
const LOCK = "lock";
const ATTACHED = "attached";
const BINARIES = "binaries";

/** A process's use of a server, which is created, started and restarted as needed. */
export interface Attachment {
  socketFolder: string;
  /** The last one to detach stops the server. */
  detach: () => Promise<void>;
}

/** Attaches this process, whose working folder is the home, to the home's server. */
export async function attach(
  { folder: home, binaries: installed, settings, names }: ServeJob,
  log: (message: string) => void,
): Promise<Attachment> {
  const binaries = await linkBinaries(installed, BINARIES);
  for (const folder of [LOCK, ATTACHED]) await makeFolder(folder);

  const { server, mark } = await withLock(LOCK, enter);
  const socket = socketIn(server.socketFolder);
  let isDown = false;
  const endWatch = watch({ isServing: () => isServing(dataOf(home), socket), restart, log });
  const trimming = setInterval(trim, TRIM_INTERVAL_MS);
  return { socketFolder: server.socketFolder, detach };

  async function enter(): Promise<{ server: Server; mark: Mark }> {
    const durable = settings["fsync"] !== "off";
    await ensureCluster(home, binaries, { durable, names, log });

    const socketFolder = await prepareSocketFolder(home, names);
    const server = { home, binaries, settings, names, socketFolder };
    const others = await listMarks(ATTACHED);
    await ensureRunning(server, {
      start: others.every(sharesPids),
      stop: others.length === 0,
    });
    return { server, mark: await putMark(ATTACHED) };
  }

  async function detach(): Promise<void> {
    clearInterval(trimming);
    await endWatch();
    await withLock(LOCK, async () => {
      await mark.remove();
      if ((await listMarks(ATTACHED)).length > 0) return;
      await stopServer(dataOf(home));
      await dropSocketFolder(home, names);
    });
  }

  async function restart(signal: AbortSignal): Promise<void> {
    await withLock(
      LOCK,
      async () => {
        if (await isServing(dataOf(home), socket)) return; // Another process was faster.
        if (!isDown) log("PostgreSQL has stopped: starting it again");
        isDown = true;
        await ensureRunning(server, { start: true, stop: true }, signal);
        isDown = false;
      },
      signal,
    );
  }

  function trim(): void {
    trimServerLog(home).catch((error: unknown) => {
      log(`PostgreSQL's log cannot be truncated: ${String(error)}`);
    });
  }
}
