import { lstatSync } from "node:fs";
import { knock } from "../marks.ts";
import { isRunning, readPostmaster } from "./postmaster.ts";
import { isAbsent } from "./regular-file.ts";

/** What is to be seen of a server. One that listens is alive, whatever we see of its process. */
export type Sight =
  | { kind: "serving" | "starting" }
  | { kind: "stopping"; pid: number }
  /** It says that it is ready, and nobody listens at its socket. `why` is the code of the error. */
  | { kind: "deaf"; pid: number; why: string }
  /** The pid is the one that it had, if it has left it. */
  | { kind: "dead"; pid: number | null };

export async function look(data: string, socket: string): Promise<Sight> {
  const why = await knock(socket);
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

/** Whether the server lives and means to go on. Costs less than `look`, and leaves out whether somebody answers. */
export async function isServing(data: string, socket: string): Promise<boolean> {
  const seen = readPostmaster(data);
  if (seen === null || seen.state === "stopping" || !isSocket(socket)) return false;
  return isRunning(seen, data) || (await knock(socket)) === null;
}

function isSocket(path: string): boolean {
  try {
    return lstatSync(path).isSocket();
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}
