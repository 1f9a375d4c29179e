import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Binaries } from "../binaries.ts";
import { endOf } from "../end-of.ts";
import type { Names } from "../names.ts";
import { dataOf } from "./folders.ts";
import { hasPid } from "./processes.ts";
import { doesNotRun, faultIn, SURROUNDINGS } from "./program.ts";
import { openServerLog } from "./server-log.ts";
import { writeSettings } from "./settings.ts";
import { prepareSocketFolder, socketIn } from "./socket-folder.ts";

export interface Server {
  home: string;
  binaries: Binaries;
  /** In addition to ours. */
  settings: Record<string, string>;
  names: Names;
  /** The folder in which its users expect the socket. */
  socketFolder: string;
}

export interface Launched {
  hasEnded: () => boolean;
  /** The cause of its end, in one line. */
  fault: () => Promise<string>;
}

/** Starts a server. `deadPid` is the pid of the one before. */
export async function launch(server: Server, deadPid: number | null): Promise<Launched> {
  const { home, binaries, settings, names, socketFolder } = server;
  if ((await prepareSocketFolder(home, names)) !== socketFolder) {
    throw new Error(`the socket's folder ${socketFolder} now belongs to another user`);
  }
  await clearStaleLocks(server, deadPid);
  const extra = { unix_socket_directories: socketFolder, ...settings };
  await writeSettings(home, binaries, names, extra);

  const log = await openServerLog(home);
  try {
    const child = spawn(join(binaries.folder, "bin", "postgres"), ["-D", dataOf(home)], {
      ...SURROUNDINGS,
      detached: true, // It outlives us.
      stdio: ["ignore", log.fd, log.fd],
    });
    await once(child, "spawn").catch((error: unknown) => {
      throw doesNotRun(error);
    });
    child.unref();
    return {
      hasEnded: () => child.exitCode !== null || child.signalCode !== null,
      fault: async () =>
        faultIn(await log.readNew()) ?? `it ended with ${endOf(child.exitCode, child.signalCode)}`,
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
