import { readFileSync, readlinkSync, realpathSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { identify, readProc } from "./process-identity.ts";

/** What the server's process, PostgreSQL's postmaster, says of itself in `postmaster.pid`. */
export interface Postmaster {
  pid: number;
  socketFolder: string;
  /** What it has last said of itself, be it alive or not. */
  state: "starting" | "ready" | "stopping";
}

/** The postmaster of a data folder as it last described itself, alive or not; null if none has. */
export function readPostmaster(data: string): Postmaster | null {
  try {
    const lines = readFileSync(join(data, "postmaster.pid"), "utf8").split("\n");
    const pid = Number(lines[0]);
    if (!(pid > 0)) return null;
    return { pid, socketFolder: lines[4] ?? "", state: stateOf(lines[7] ?? "") };
  } catch {
    return null;
  }
}

function stateOf(line: string): Postmaster["state"] {
  if (line.startsWith("ready")) return "ready";
  return line.startsWith("stopping") ? "stopping" : "starting";
}

/** Whether it lives, and is the postmaster of this folder: its pid may be somebody else's by now. */
export function isRunning({ pid }: Postmaster, data: string): boolean {
  if (identify(pid) === null) return false;
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(data); // It works in its data folder.
  } catch {
    const name = readProc(`${pid}/comm`); // Which more people may see than the folder.
    return name === null || name === "postgres";
  }
}

/** Whether somebody listens at the socket. */
export async function answers({ socketFolder }: Postmaster): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(join(socketFolder, ".s.PGSQL.5432"));
    const end = (listening: boolean) => {
      socket.destroy();
      resolve(listening);
    };
    socket.once("connect", () => {
      end(true);
    });
    socket.once("error", (error) => {
      end("code" in error && error.code === "EAGAIN"); // So busy that the queue is full.
    });
  });
}
