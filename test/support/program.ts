import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { TestContext } from "node:test";

/** The program as a checkout runs it. */
export const ENTRY = new URL("../../program/cli.js", import.meta.url).href;
export const ADMIN_TOKEN = "operator-token-for-the-tests-0123456789";

/** A running service, wherever it runs. */
export interface Served {
  partnerUrl: string;
  operatorUrl: string;
}

export interface Program extends Served {
  process: ChildProcess;
  /** All its log lines so far. */
  log: Record<string, unknown>[];
  /** Its standard error so far. */
  complaint: () => string;
  /** Sends the signal and resolves to the exit status, or to the signal that ended it. */
  end: (signal: NodeJS.Signals) => Promise<number | NodeJS.Signals | null>;
}

/** Runs the built program as a process and resolves when it is ready. */
export async function startProgram(
  t: Pick<TestContext, "after">,
  env: Record<string, string>,
  limits: Limits = {},
): Promise<Program> {
  const serving = { ADMIN_TOKEN, PORT: "0", OPERATOR_PORT: "0", ...env };
  return untilReady(t, run(["serve"], serving, "pipe", limits));
}

/** Resolves when the service that `child` runs is ready. */
export async function untilReady(
  t: Pick<TestContext, "after">,
  child: ChildProcessByStdio<Writable | null, Readable, Readable>,
): Promise<Program> {
  t.after(() => child.kill("SIGKILL"));
  // `exit` may come before the last lines have left the pipe.
  const closed = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;

  const log: Record<string, unknown>[] = [];
  let complaint = "";
  const ready = await new Promise<Record<string, unknown>>((resolve, reject) => {
    createInterface(child.stdout).on("line", (line) => {
      const entry = JSON.parse(line) as Record<string, unknown>;
      log.push(entry);
      if (entry["msg"] === "ready") resolve(entry);
    });
    child.stderr.on("data", (text: Buffer) => (complaint += text.toString()));
    void closed.then(() => {
      reject(new Error(`the program ended: ${complaint}`));
    });
  });

  return {
    partnerUrl: String(ready["partners"]),
    operatorUrl: String(ready["operators"]),
    process: child,
    log,
    complaint: () => complaint,
    end: async (signal) => {
      child.kill(signal);
      const [status, killedBy] = await closed;
      return status ?? killedBy;
    },
  };
}

/** Runs a command that the caller ends. */
export function spawnProgram(
  t: TestContext,
  args: string[],
  env: Record<string, string>,
): Pick<Program, "process" | "end"> {
  const child = run(args, env);
  t.after(() => child.kill("SIGKILL"));
  const exited = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  return {
    process: child,
    end: async (signal) => {
      child.kill(signal);
      const [status, killedBy] = await exited;
      return status ?? killedBy;
    },
  };
}

/** Runs one command to its end. */
export async function runProgram(args: string[], env: Record<string, string>, limits?: Limits) {
  const child = run(args, env, "pipe", limits);
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (text: Buffer) => (output.stdout += text.toString()));
  child.stderr.on("data", (text: Buffer) => (output.stderr += text.toString()));
  const [status] = (await once(child, "close")) as [number | null];
  return { status, ...output };
}

/** The limits of a process, and its program. */
export interface Limits {
  /** The command line's module. Default: the one of this build. */
  entry?: string;
  /** The maximum of open files, sockets and pipes. */
  descriptors?: number;
  /** The working folder. */
  cwd?: string;
}

/** Starts a command without waiting for it. `stdout`: a descriptor for its output. */
export function run(
  args: string[],
  env: Record<string, string>,
  stdout: "pipe" | number = "pipe",
  { descriptors, cwd, entry = ENTRY, hasInput = false }: Limits & { hasInput?: boolean } = {},
) {
  const program = `import(${JSON.stringify(entry)}).then(({ main }) => main(process.argv.slice(1)))`;
  const command = [process.execPath, "--input-type=module", "-e", program, "--", ...args];
  const limited = ["sh", "-c", `ulimit -n ${descriptors ?? 0} && exec "$0" "$@"`, ...command];
  const [file = "", ...rest] = descriptors === undefined ? command : limited;
  return spawn(file, rest, {
    cwd,
    env: { PATH: process.env["PATH"], ...env },
    stdio: [hasInput ? "pipe" : "ignore", stdout, "pipe"],
  }) as ChildProcessByStdio<Writable | null, Readable, Readable>;
}
