import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { TestContext } from "node:test";

export const ENTRY = new URL("../../src/cli.js", import.meta.url).href;
export const ADMIN_TOKEN = "operator-token-for-the-tests-0123456789";

export interface Program {
  partnerUrl: string;
  operatorUrl: string;
  process: ChildProcess;
  /** Everything that it has logged so far. */
  log: Record<string, unknown>[];
  /** What it has written to standard error so far. */
  complaint: () => string;
  /** Sends the signal and resolves to the exit status, or the signal that ended it. */
  end: (signal: NodeJS.Signals) => Promise<number | NodeJS.Signals | null>;
}

/** Runs the built program as a process of its own and resolves once it is ready. */
export async function startProgram(
  t: Pick<TestContext, "after">,
  env: Record<string, string>,
  limits: Limits = {},
): Promise<Program> {
  const serving = { ADMIN_TOKEN, PORT: "0", OPERATOR_PORT: "0", ...env };
  const child = run(["serve"], serving, "pipe", limits);
  t.after(() => child.kill("SIGKILL"));
  // Not `exit`: its last lines may still be in the pipe by then.
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

/** Runs one command that is meant to be ended. */
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

/** What the system allows a process, and which program it runs. */
export interface Limits {
  /** The command line's module. Default: the one that was built here. */
  entry?: string;
  /** Files, sockets and pipes that it may have open. */
  descriptors?: number;
}

/** Starts one command and leaves it to the caller. `stdout`: a descriptor that it writes to instead. */
export function run(
  args: string[],
  env: Record<string, string>,
  stdout: "pipe" | number = "pipe",
  { descriptors, entry = ENTRY, hasInput = false }: Limits & { hasInput?: boolean } = {},
) {
  const program = `import(${JSON.stringify(entry)}).then(({ main }) => main(process.argv.slice(1)))`;
  const command = [process.execPath, "--input-type=module", "-e", program, "--", ...args];
  const limited = ["sh", "-c", `ulimit -n ${descriptors ?? 0} && exec "$0" "$@"`, ...command];
  const [file = "", ...rest] = descriptors === undefined ? command : limited;
  return spawn(file, rest, {
    env: { PATH: process.env["PATH"], ...env },
    stdio: [hasInput ? "pipe" : "ignore", stdout, "pipe"],
  }) as ChildProcessByStdio<Writable | null, Readable, Readable>;
}
