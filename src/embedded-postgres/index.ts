import { rmdir } from "node:fs/promises";
import { copyBinaries, findPackage, readPackage } from "./binaries.ts";
import { openHome, openProgramFolder } from "./home.ts";
import { emptyHome, startKeeper } from "./keeper-process.ts";
import type { ServeJob } from "./protocol.ts";
import { socketUrl } from "./socket-url.ts";
import { watch } from "./watch.ts";

export { type Account, accountOf } from "./account.ts";
export { become } from "./become.ts";
export { homeFolder } from "./home.ts";
export { makePath } from "./make-path.ts";

export interface EmbeddedPostgres {
  /** For our driver and libpq, over a Unix socket. It stays the same while any process is attached. */
  url: string;
  /** Detaches. The last of all attached processes to do so stops the server. */
  stop(): Promise<void>;
}

/**
 * Attaches this process to the DATA_DIR's own PostgreSQL, which is made and started as needed.
 * While attached, a server that dies is started again. A killed process leaves it to the next one.
 * `settings` are the server's, on top of ours; those of the process that starts it hold.
 *
 * A keeper does all of this, a process of its own. Root's has the rights of the account that PostgreSQL runs as, so
 * that nothing that this account lays in its folder is ever done by root.
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
    log("PostgreSQL's keeper has ended: starting another one");
    keeper = await startKeeper(job, log);
    if (keeper.socketFolder === socketFolder) return;
    await keeper.stop();
    throw new Error(`PostgreSQL has left ${socketFolder} for ${keeper.socketFolder}`);
  }

  async function detach(): Promise<void> {
    await endWatch();
    await keeper.stop().catch(async (error: unknown) => {
      if (keeper.isRunning()) throw error;
      await (await startKeeper(job, log)).stop(); // It was killed before it could.
    });
  }
}

/** Removes a DATA_DIR's database for good. Fails while a process is attached to it. */
export async function removeEmbedded(dataDir: string): Promise<void> {
  const home = await openHome(dataDir, () => undefined);
  await emptyHome({ ...home, task: "remove" });
  await rmdir(home.folder);
}
