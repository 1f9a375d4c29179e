import { rmdir } from "node:fs/promises";
import { copyBinaries, findPackage, readPackage } from "./binaries.ts";
import { openHome, openProgramFolder, socketUrl } from "./home.ts";
import { emptyHome, type ServeJob, startKeeper } from "./keeper-process.ts";
import { watch } from "./watch.ts";

export { type Account, accountOf, become } from "./account.ts";
export { homeFolder, makePath } from "./home.ts";

interface EmbeddedOptions {
  dataDir: string;
  log: (message: string) => void;
  settings?: Record<string, string>;
}

export interface EmbeddedPostgres {
  /** For our driver and libpq, over a Unix socket. It stays the same while any process is attached. */
  url: string;
  /** Detaches. The last of all attached processes to do so stops the server. */
  stop(): Promise<void>;
}

/**
 * Attaches this process to the built-in PostgreSQL of a DATA_DIR, and creates and starts it as needed. While this process is
 * attached, a server that dies is restarted. `settings` are added to ours. They apply if this process starts the server.
 *
 * A keeper process does the work. If we are root, the keeper runs as PostgreSQL's account. So root never acts on files that this
 * account controls.
 */
export async function startEmbedded({
  dataDir,
  log,
  settings = {},
}: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const installed = await readPackage(findPackage());
  const home = await openHome(dataDir, log);
  const binaries = home.account
    ? await copyBinaries(installed, await openProgramFolder())
    : installed;
  const job: ServeJob = { ...home, task: "serve", binaries, settings };

  let keeper = await startKeeper(job, log);
  const { socketFolder } = keeper;
  const endWatch = watch({ isServing: () => keeper.isRunning(), restart, log });
  let detached: Promise<void> | undefined;
  return { url: socketUrl(socketFolder), stop: () => (detached ??= detach()) };

  async function restart(): Promise<void> {
    log("the keeper process of PostgreSQL has ended: starting another one");
    keeper = await startKeeper(job, log);
    if (keeper.socketFolder === socketFolder) return;
    await keeper.stop();
    throw new Error(
      `PostgreSQL's socket has moved from ${socketFolder} to ${keeper.socketFolder}: restart this process`,
    );
  }

  async function detach(): Promise<void> {
    await endWatch();
    await keeper.stop().catch(async (error: unknown) => {
      if (keeper.isRunning()) throw error;
      await (await startKeeper(job, log)).stop(); // The keeper was killed before it could stop the server.
    });
  }
}

/** Removes a DATA_DIR's database for good. Fails while a process is attached to it. */
export async function removeEmbedded(dataDir: string): Promise<void> {
  const home = await openHome(dataDir, () => undefined);
  await emptyHome({ ...home, task: "remove" });
  await rmdir(home.folder);
}
