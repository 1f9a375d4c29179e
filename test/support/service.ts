import { EventEmitter } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { loadConfig } from "../../src/config/config.ts";
import { doctor } from "../../src/start/doctor.ts";
import { start } from "../../src/start/main.ts";
import { ADMIN_TOKEN, type Program, type Served } from "./program.ts";

export interface RunningService extends Served {
  /** All its log lines so far. */
  log: Program["log"];
  /** Emits `line` when the log has another one. */
  logging: EventEmitter;
  /** Stops as at SIGTERM. Rejects if that takes longer than SHUTDOWN_GRACE. */
  stop: () => Promise<void>;
}

/**
 * Starts the service in this process and resolves when it is ready. That takes a tenth of the CPU of a program, and is for tests
 * that need neither a kill nor what `cli.ts` does: the checks before a start, signals, statuses, and lines on standard error.
 */
export async function startService(
  t: { after(work: () => Promise<void>): void },
  env: Record<string, string>,
): Promise<RunningService> {
  const log: Program["log"] = [];
  const logging = new EventEmitter();
  const write = (line: string) => {
    log.push(JSON.parse(line) as Program["log"][number]);
    logging.emit("line");
  };
  const config = loadConfig({ ADMIN_TOKEN, PORT: "0", OPERATOR_PORT: "0", ...env });
  const service = await start(config, { write });
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= stopInTime());
  t.after(stop);
  const { partnerUrl, operatorUrl } = service;
  return { partnerUrl: String(partnerUrl), operatorUrl, log, logging, stop };

  async function stopInTime(): Promise<void> {
    await service.drain();
    const grace = new AbortController();
    const late = sleep(config.shutdownGraceMs, null, { signal: grace.signal }).then(() => {
      throw new Error("the service has not stopped within SHUTDOWN_GRACE");
    });
    late.catch(() => undefined); // Aborted.
    await Promise.race([service.stop(), late]);
    grace.abort();
  }
}

/** Runs `doctor` in this process, and returns its exit status and its output. */
export async function diagnose(env: Record<string, string>) {
  let stdout = "";
  const write = (text: string) => void (stdout += text);
  const isSound = await doctor(loadConfig(env), { write, isTerminal: false });
  return { status: isSound ? 0 : 1, stdout };
}
