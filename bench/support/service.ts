import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, closeSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";

const PROGRAMS = new URL("../processes/", import.meta.url);
const CHECKOUT = new URL("../../../", import.meta.url);
const START_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 20_000;
const POLL_MS = 20;

/** The real program as a separate process. */
export interface Program {
  pid: number;
  /** Stops the process until `resume`. */
  pause: () => void;
  resume: () => void;
  stop: () => Promise<void>;
}

export interface Service extends Program {
  /** Empty if it is only a dispatcher. */
  partnerUrl: string;
  operatorUrl: string;
}

/** The addresses in the line of the log that says that a program is ready. */
interface Ready {
  partners?: string | null;
  operators?: string;
  url?: string;
}

/**
 * Starts the service with only this environment and resolves when it is ready. Its log goes to a file. `program`: a file of
 * `processes/`, or null for the program as `npm start` runs it.
 */
export async function startService(
  env: Record<string, string>,
  {
    program,
    logFile,
    nodeOptions,
  }: { program: string | null; logFile: string; nodeOptions: string[] },
): Promise<Service> {
  const args =
    program === null ? [...PROGRAM, "serve"] : [fileURLToPath(new URL(`${program}.js`, PROGRAMS))];
  const { ready, ...service } = await startProgram(
    [...(await startOptions()), ...nodeOptions, ...args],
    { PORT: "0", OPERATOR_PORT: "0", ...env },
    logFile,
  );
  return { ...service, partnerUrl: ready.partners ?? "", operatorUrl: ready.operators ?? "" };
}

/** A bridge on these sources, as a user starts it. Its URL is that of its probes and metrics. */
export async function startBridge(
  sources: readonly object[],
  env: Record<string, string>,
  file: string,
): Promise<Program & { url: string }> {
  await writeFile(file, JSON.stringify({ sources }));
  const args = [...PROGRAM, "bridge", "--config", file];
  const { ready, ...bridge } = await startProgram(
    args,
    { BRIDGE_PORT: "0", ...env },
    `${file}.log`,
  );
  return { ...bridge, url: ready.url ?? "" };
}

async function startProgram(
  args: readonly string[],
  env: Record<string, string>,
  logFile: string,
): Promise<Program & { ready: Ready }> {
  const log = openSync(logFile, "w");
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["pipe", log, log],
    detached: true, // Ctrl-C must not reach it, so that it is stopped in order.
  });
  closeSync(log);
  try {
    return {
      ready: await readyLine(child, logFile),
      pid: child.pid ?? 0,
      pause: () => child.kill("SIGSTOP"),
      resume: () => child.kill("SIGCONT"),
      stop: async () => {
        await end(child);
        await rm(logFile, { force: true });
      },
    };
  } catch (error) {
    await end(child);
    throw error;
  }
}

/** It ends with the bench, even if that is killed. */
const PROGRAM = [
  ...["--import", new URL("scripts/leash.js", CHECKOUT).href],
  fileURLToPath(new URL("bin/partner-api.js", CHECKOUT)),
];

/** The options that `npm start` passes to Node.js. */
async function startOptions(): Promise<string[]> {
  const { scripts } = JSON.parse(await readFile(new URL("package.json", CHECKOUT), "utf8")) as {
    scripts: { start: string };
  };
  return scripts.start.split(" ").filter((word) => word.startsWith("--"));
}

async function readyLine(child: ChildProcess, logFile: string): Promise<Ready> {
  for (let waitedMs = 0; waitedMs < START_LIMIT_MS; waitedMs += POLL_MS) {
    await sleep(POLL_MS);
    const text = await readFile(logFile, "utf8");
    const line = text.split("\n").find((one) => one.endsWith('"msg":"ready"}'));
    if (line !== undefined) return JSON.parse(line) as Ready;
    if (hasEnded(child)) throw new Error(`the program ended during its start: ${text}`);
  }
  throw new Error("the program was not ready in time");
}

async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  child.kill("SIGCONT");
  const killer = setTimeout(() => child.kill("SIGKILL"), STOP_LIMIT_MS);
  await exited;
  clearTimeout(killer);
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
