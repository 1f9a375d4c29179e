import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Exported } from "../actions/history-exports.ts";
import type { ExportCommand } from "../config.ts";

/** The end of the program's output that is kept. */
const OUTPUT_MAX = 4_096;
/** The time that the program gets to end after SIGTERM. */
const END_MS = 5_000;
/** The time for the rest of the output after the program's end. */
const REST_MS = 1_000;

export interface Ran {
  exported: Exported;
  /** The last lines of standard output and standard error. */
  output: string;
}

/**
 * Runs the program with `argument` as its last one. It fails after `limitMs`, and is abandoned when `signal` aborts. Its child
 * processes end with it. Never throws.
 */
export async function runExport(
  { program, args, env }: ExportCommand,
  argument: string,
  { limitMs, signal }: { limitMs: number; signal: AbortSignal },
): Promise<Ran> {
  if (signal.aborted) return { exported: { kind: "abandoned" }, output: "" };
  let child: ChildProcess;
  try {
    // A group of its own, so that a signal reaches the children of a script.
    child = spawn(program, [...args, argument], {
      env,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
  } catch (error) {
    return doesNotRun(program, error);
  }
  child.on("error", () => undefined); // Without a listener it ends the service. `once` below reports it.
  let output = "";
  // Out of descriptors, the child has no streams.
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(-OUTPUT_MAX);
    });
  }
  const limit = AbortSignal.timeout(limitMs);
  const ending = new AbortController();
  const onAbort = () => void end(child, ending.signal);
  for (const one of [limit, signal]) one.addEventListener("abort", onAbort);
  const closed = once(child, "close").catch(() => undefined);
  try {
    const [status, killer] = (await once(child, "exit")) as [number | null, string | null];
    kill(child, "SIGKILL");
    await Promise.race([closed, sleep(REST_MS, undefined, { ref: false })]);
    return { exported: judge(), output };

    function judge(): Exported {
      if (status === 0) return { kind: "done" };
      if (signal.aborted) return { kind: "abandoned" };
      if (limit.aborted) return { kind: "failed", why: `took longer than ${limitMs} ms` };
      return {
        kind: "failed",
        why: status === null ? `signal ${killer}` : `exit status ${status}`,
      };
    }
  } catch (error) {
    return doesNotRun(program, error);
  } finally {
    ending.abort();
    for (const one of [limit, signal]) one.removeEventListener("abort", onAbort);
  }
}

function doesNotRun(program: string, error: unknown): Ran {
  const { code, message } = error as NodeJS.ErrnoException;
  const why = `${program} does not run: ${code ?? message}`;
  return { exported: { kind: "failed", why }, output: "" };
}

async function end(child: ChildProcess, ended: AbortSignal): Promise<void> {
  kill(child, "SIGTERM");
  await sleep(END_MS, undefined, { signal: ended }).catch(() => undefined);
  if (!ended.aborted) kill(child, "SIGKILL");
}

/** Sends the signal to the program and its child processes. */
function kill({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone already.
  }
}
