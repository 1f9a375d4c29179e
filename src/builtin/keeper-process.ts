import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { access } from "node:fs/promises";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Binaries } from "./binaries.ts";
import type { Home } from "./home.ts";

const PROGRAM = fileURLToPath(new URL("./keeper/main.js", import.meta.url));

const MINUTE_MS = 60_000;
// The keeper waits up to six minutes for the lock and five for a recovery. Then it reports the fault.
const START_PATIENCE_MS = 12 * MINUTE_MS;
const STOP_PATIENCE_MS = MINUTE_MS;
/** How long another process may hold the output of an ended keeper open. */
const OUTPUT_PATIENCE_MS = 1_000;

/** The bounds of a keeper's reports. It cuts its texts shorter, and never sends as many. */
const TEXT_MAX = 1_000;
const LINE_MAX = 8_192;
const LINES_PER_MINUTE = 300;
// Characters that need no quotes, and few enough for a socket's path.
const SOCKET_FOLDER = /^\/[\w./-]{1,100}$/;

/** The job of a keeper: the first line of its input, as JSON. Any second line tells it to detach. */
export type Job = ServeJob | RemoveJob;

export interface ServeJob extends Home {
  task: "serve";
  binaries: Binaries;
  /** Settings of the server in addition to ours. */
  settings: Record<string, string>;
}

interface RemoveJob extends Home {
  task: "remove";
}

/** A line of a keeper's output, as JSON. When its work is done, it ends with status 0. */
export type Report =
  { kind: "serving"; socketFolder: string } | { kind: "note" | "failed"; text: string };

/** The process that works on a home, with the rights of the home's account. Its output is not trusted. */
interface Keeper {
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
  return attend(await spawnKeeper(job), log);
}

/** Removes the content of a home. Fails while a process is attached to it. */
export async function emptyHome(job: RemoveJob): Promise<void> {
  const child = await spawnKeeper(job);
  await within(START_PATIENCE_MS, child, follow(child, () => undefined).next());
}

/** Resolves when the server accepts connections. From then on the keeper does not keep our process alive. */
export async function attend(child: Child, log: Log): Promise<Keeper> {
  const serving = follow(child, log);
  const { value: socketFolder } = await within(START_PATIENCE_MS, child, serving.next());
  if (socketFolder === undefined)
    throw new Error(
      "the keeper process of PostgreSQL has ended before the server was ready: start again",
    );
  const ended = serving.next();
  ended.catch(() => undefined); // The watch sees the end, and `stop` the fault.
  child.unref();
  for (const stream of [child.stdin, child.stdout]) if (stream instanceof Socket) stream.unref();

  return {
    socketFolder,
    isRunning: () => child.exitCode === null && child.signalCode === null,
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

/**
 * Yields the socket's folder when the server is ready, and ends when the keeper's work is done. If the keeper fails or breaks the
 * protocol, kills it and throws.
 */
async function* follow(child: Child, log: Log): AsyncGenerator<string, undefined> {
  const exit = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  child.once("exit", () => setTimeout(() => child.stdout.destroy(), OUTPUT_PATIENCE_MS).unref());
  try {
    for await (const line of readLines(child.stdout)) {
      const report = parseReport(line);
      if (report.kind === "failed") throw new Error(report.text);
      if (report.kind === "serving") yield report.socketFolder;
      else log(report.text);
    }
    const [code, signal] = await exit;
    if (code !== 0) throw new Error(`PostgreSQL's keeper has ended with ${endOf(code, signal)}`);
  } finally {
    child.kill("SIGKILL");
  }
}

/** Throws if the lines are too many or too long. */
async function* readLines(output: Readable): AsyncGenerator<string> {
  let rest = "";
  let lines = 0;
  let since = performance.now();

  for await (const chunk of output.setEncoding("utf8") as AsyncIterable<string>) {
    const complete = (rest + chunk).split("\n");
    rest = complete.pop() ?? "";
    if (performance.now() - since > MINUTE_MS) [lines, since] = [0, performance.now()];
    lines += complete.length;
    if (lines > LINES_PER_MINUTE || [...complete, rest].some(({ length }) => length > LINE_MAX))
      throw new Error("PostgreSQL's keeper sends too many or too long reports");
    yield* complete;
  }
}

/** The texts of a report are printable and short. */
function parseReport(line: string): Report {
  const { kind, text, socketFolder } = parseObject(line);
  if (kind === "serving" && typeof socketFolder === "string" && SOCKET_FOLDER.test(socketFolder))
    return { kind, socketFolder };
  if ((kind === "note" || kind === "failed") && typeof text === "string")
    return { kind, text: printable(text.slice(0, TEXT_MAX)) };
  throw new Error("PostgreSQL's keeper sent a malformed report");
}

function parseObject(line: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(line)) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** Escapes characters that control a terminal or the direction of text. */
function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (c) => `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** Says how a process ended: `SIGKILL` or `exit code 1`. */
export function endOf(code: number | null, signal: string | null): string {
  return signal ?? `exit code ${code ?? ""}`;
}

/** Ends the keeper if its work takes longer. */
async function within<T>(patienceMs: number, child: Child, work: Promise<T>): Promise<T> {
  const minutes = patienceMs / MINUTE_MS;
  const timer = setTimeout(() => {
    const why = `PostgreSQL's keeper has reported nothing for ${minutes} min`;
    child.stdout.destroy(new Error(why));
    child.kill("SIGKILL");
  }, patienceMs);
  return work.finally(() => clearTimeout(timer));
}
