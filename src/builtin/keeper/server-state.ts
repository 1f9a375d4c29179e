import { lstatSync } from "node:fs";
import { tryConnect } from "../marks.ts";
import { isRunning, readPostmaster } from "./postmaster.ts";
import { isAbsent } from "./regular-file.ts";

/** The visible state of a server. A server that listens is alive, even if we do not see its process. */
export type ServerState =
  | { kind: "serving" | "starting" }
  | { kind: "stopping"; pid: number }
  /** The pid file says ready, but nothing listens on the socket. `why` is the error's code. */
  | { kind: "deaf"; pid: number; why: string }
  /** The pid in the file that it left, if any. */
  | { kind: "dead"; pid: number | null };

export async function observe(data: string, socket: string): Promise<ServerState> {
  const why = await tryConnect(socket);
  const seen = readPostmaster(data);
  const isReady = seen?.state === "ready";

  if (seen === null || !isRunning(seen, data)) {
    if (why !== null) return { kind: "dead", pid: seen?.pid ?? null };
    return { kind: isReady ? "serving" : "starting" };
  }
  const { pid, state } = seen;
  if (state !== "ready") return { kind: state, pid };
  return why === null ? { kind: "serving" } : { kind: "deaf", pid, why };
}

/** Returns true if the server runs and does not stop. Cheaper than `observe`: does not connect. */
export async function isServing(data: string, socket: string): Promise<boolean> {
  const seen = readPostmaster(data);
  if (seen === null || seen.state === "stopping" || !isSocket(socket)) return false;
  return isRunning(seen, data) || (await tryConnect(socket)) === null;
}

function isSocket(path: string): boolean {
  try {
    return lstatSync(path).isSocket();
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}
