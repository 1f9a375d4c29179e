import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readlinkSync } from "node:fs";
import { readdir, rename, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { join } from "node:path";

/** Says that a process is there, for as long as it lives. */
export interface Mark {
  name: string;
  remove: () => Promise<void>;
}

const NAME = /^\d*\.[0-9a-f]{12}$/;

/**
 * Leaves a mark of this process in a folder: a socket that nobody has to say anything at. Whether anybody listens the kernel
 * tells all alike, in whichever container they are and whatever they see of /proc. A pid tells that to few, and comes round
 * again.
 */
export async function putMark(folder: string): Promise<Mark> {
  const name = `${namespace()}.${randomBytes(6).toString("hex")}`;
  const path = join(folder, name);
  const server = createServer((visitor) => visitor.destroy()).unref();
  // A name that nobody asks at until we listen: unheard, it would be taken for a dead process's.
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

/** The names of the marks of living processes. What a dead one left behind is swept away. */
export async function listMarks(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => NAME.test(name));
  const faults = await Promise.all(names.map((name) => tryConnect(join(folder, name))));
  const dead = names.filter((_, i) => isProofOfDeath(faults[i]));
  await Promise.all(dead.map((name) => rm(join(folder, name), { force: true })));
  return names.filter((name) => !dead.includes(name));
}

/** Whether the process that left it counts pids as we do. In another container they are others. */
export function sharesPids(markName: string): boolean {
  return markName.startsWith(`${namespace()}.`);
}

/** Null when somebody listens at a Unix socket, else the code of the error that says why nobody can be reached. */
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

/** All else, that we may not ask or have no descriptor left say, proves nothing. */
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
