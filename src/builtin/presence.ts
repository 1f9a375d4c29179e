import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readlinkSync } from "node:fs";
import { readdir, rename, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A socket on which a process listens, so that others see that it is alive. */
export interface Presence {
  name: string;
  remove: () => Promise<void>;
}

/** How long to wait for a lock. */
const PATIENCE_MS = 6 * 60_000;
const NAME = /^\d*\.[0-9a-f]{12}$/;

/**
 * Shows the presence of this process in a folder, by a socket on which it listens. The kernel tells every process, even in another
 * container and without /proc, if a process still listens. A pid is visible to few processes and is reused.
 */
export async function showPresence(folder: string): Promise<Presence> {
  const name = `${namespace()}.${randomBytes(6).toString("hex")}`;
  const path = join(folder, name);
  const server = createServer((visitor) => visitor.destroy()).unref();
  // A name that others do not check. Before we listen, they would take the process for dead.
  await once(server.listen(`${path}.new`), "listening");
  await rename(`${path}.new`, path);
  return {
    name,
    remove: async () => {
      await rm(path, { force: true });
      server.close();
    },
  };
}

/** Returns the names of the present processes, and removes the others. */
export async function listPresent(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => NAME.test(name));
  const faults = await Promise.all(names.map((name) => tryConnect(join(folder, name))));
  const dead = names.filter((_, i) => isProofOfDeath(faults[i]));
  await Promise.all(dead.map((name) => rm(join(folder, name), { force: true })));
  return names.filter((name) => !dead.includes(name));
}

/** Returns true if the process of this name shares our pid namespace. */
export function sharesPids(name: string): boolean {
  return name.startsWith(`${namespace()}.`);
}

/** Returns null if a process listens on the Unix socket, or else the error code. */
export async function tryConnect(path: string): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const end = (fault: string | null) => {
      socket.destroy();
      resolve(fault);
    };
    socket.once("connect", () => {
      end(null);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => {
      end(error.code === "EAGAIN" ? null : (error.code ?? error.message)); // EAGAIN: its queue is full.
    });
  });
}

/** Other errors, such as a missing right or descriptor, prove nothing. */
function isProofOfDeath(fault: string | null | undefined): boolean {
  return fault === "ECONNREFUSED" || fault === "ENOENT";
}

function namespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid").replaceAll(/\D/g, "");
  } catch {
    return "";
  }
}

/**
 * Runs `work` under a lock on the folder. A killed holder loses the lock, because only living processes are present.
 */
export async function withLock<T>(
  folder: string,
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const presence = await acquire(folder, signal);
  try {
    return await work();
  } finally {
    await presence.remove();
  }
}

// A process shows its presence before it looks for others. Of two at once, at least one sees the other and steps back. So no process
// has to take over the file of a dead holder, which would be a race.
async function acquire(folder: string, signal?: AbortSignal): Promise<Presence> {
  const since = performance.now();
  for (;;) {
    signal?.throwIfAborted();
    if ((await listPresent(folder)).length === 0) {
      const presence = await showPresence(folder);
      if ((await listPresent(folder)).every((other) => other === presence.name)) return presence;
      await presence.remove();
    }
    if (performance.now() - since > PATIENCE_MS) {
      throw new Error(
        `another process has locked ${resolve(folder)} for 6 minutes: end the other processes that use DATA_DIR`,
      );
    }
    await sleep(10 + Math.random() * 30);
  }
}
