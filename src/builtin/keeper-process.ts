import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { access } from "node:fs/promises";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { endOf } from "./end-of.ts";
import type { Job, RemoveJob, ServeJob } from "./protocol.ts";
import { readReports } from "./reports.ts";

const PROGRAM = fileURLToPath(new URL("./keeper/main.js", import.meta.url));

const MINUTE_MS = 60_000;
// The keeper waits up to six minutes for the lock and five for a recovery. Then it reports the fault.
const START_PATIENCE_MS = 12 * MINUTE_MS;
const STOP_PATIENCE_MS = MINUTE_MS;
/** How long another process may hold the output of an ended keeper open. */
const OUTPUT_PATIENCE_MS = 1_000;

/** The process that works on a home, with the rights of the home's account. Its output is not trusted. */
export interface Keeper {
  /** The folder of the server's socket. */
  socketFolder: string;
  isRunning: () => boolean;
  /** Detaches. Stops the server unless another process uses it. */
  stop: () => Promise<void>;
}

export type Child = ChildProcessByStdio<Writable, Readable, null>;
type Log = (message: string) => void;

/** Resolves when the server accepts connections. */
export async function startKeeper(job: ServeJob, log: Log): Promise<Keeper> {
  const child = await spawnKeeper(job);
  return attend(child, log);
}

/** Removes the content of a home. Fails while a process is attached to it. */
export async function emptyHome(job: RemoveJob): Promise<void> {
  const child = await spawnKeeper(job);
  const ignore = () => undefined;
  await within(START_PATIENCE_MS, child, follow(child, ignore, ignore));
}

/** Resolves when the server accepts connections. From then on the keeper does not keep our process alive. */
export async function attend(child: Child, log: Log): Promise<Keeper> {
  let ended: Promise<void> = Promise.resolve();
  const serving = new Promise<string>((resolve, reject) => {
    ended = follow(child, log, resolve);
    ended.then(
      () =>
        reject(
          new Error(
            "the keeper process of PostgreSQL has ended before the server was ready: start again",
          ),
        ),
      reject,
    );
  });
  const socketFolder = await within(START_PATIENCE_MS, child, serving);
  child.unref();
  for (const stream of [child.stdin, child.stdout]) if (stream instanceof Socket) stream.unref();

  return {
    socketFolder,
    isRunning: () => !hasEnded(child),
    stop: async () => {
      child.stdin.write("stop\n");
      await within(STOP_PATIENCE_MS, child, ended);
    },
  };
}

/**
 * Starts with our rights, because others may not be allowed to read the code. The keeper gives them up before it touches a file. It
 * gets neither our environment nor our terminal, so Ctrl-C reaches only us.
 */
async function spawnKeeper(job: Job): Promise<Child> {
  await access(PROGRAM); // Without this, a missing file would only show as an exit code.
  const child = spawn(process.execPath, [PROGRAM], {
    cwd: "/",
    // An io_uring keeps the rights of the process that opened it, which are root's here.
    env: { UV_USE_IO_URING: "0", ...(job.account ? {} : { TMPDIR: tmpdir() }) },
    detached: true,
    stdio: ["pipe", "pipe", "ignore"],
  });
  child.stdin.on("error", () => undefined); // The keeper has ended. Its exit tells the cause.
  await once(child, "spawn");
  child.stdin.write(`${JSON.stringify(job)}\n`);
  return child;
}

/** Resolves when the keeper's work is done. If the keeper fails or breaks the protocol, kills it and rejects. */
async function follow(
  child: Child,
  log: Log,
  onServing: (socketFolder: string) => void,
): Promise<void> {
  const exit = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  child.once("exit", () => setTimeout(() => child.stdout.destroy(), OUTPUT_PATIENCE_MS).unref());
  try {
    for await (const report of readReports(child.stdout)) {
      if (report.kind === "failed") throw new Error(report.text);
      if (report.kind === "serving") onServing(report.socketFolder);
      else log(report.text);
    }
    const [code, signal] = await exit;
    if (code !== 0) throw new Error(`PostgreSQL's keeper has ended with ${endOf(code, signal)}`);
  } finally {
    child.kill("SIGKILL");
  }
}

function hasEnded({ exitCode, signalCode }: Child): boolean {
  return exitCode !== null || signalCode !== null;
}

async function within<T>(patienceMs: number, child: Child, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(
        new Error(`PostgreSQL's keeper has reported nothing for ${patienceMs / MINUTE_MS} min`),
      );
    }, patienceMs);
  });
  return Promise.race([work, tooLate]).finally(() => {
    clearTimeout(timer);
  });
}
