import { setTimeout as sleep } from "node:timers/promises";
import { isUnavailable } from "../../src/postgres/database.ts";
import { type Program, startProgram } from "../support/program.ts";
import type { Afterwards } from "./afterwards.ts";
import type { Slot } from "./journal.ts";
import { readUnrecorded, type Unrecorded } from "./unrecorded.ts";

const RETRY_MS = 100;
const AWAY = "the database is unavailable: deliveries wait and requests are refused";
/** The change is committed, and this line is its record if the database goes away before the audit has it. */
const UNRECORDED = "recording a change in the audit failed";
const ENDED = "a worker has ended: it is started again";

/**
 * A fault that was injected into a service or the database, with its time. `late` was not injected: the machine was so busy that
 * an outcome came after its lease.
 */
export interface Harm {
  kind: "kill" | "pause" | "database" | "late";
  /** Null: the database, which affects both. */
  slot: Slot | null;
  from: number;
  until: number;
  /** The fault of a cluster. */
  fault?: string;
}

/** Kills a worker, and waits until its parent knows. */
async function killWorker({ log, process: parent }: Program, worker: number): Promise<void> {
  const hasEnded = () => parent.exitCode !== null || parent.signalCode !== null;
  let pid = livingWorker(log, worker);
  for (; pid === null && !hasEnded(); pid = livingWorker(log, worker)) await sleep(RETRY_MS);
  if (pid === null) return;
  process.kill(pid, "SIGKILL");
  while (livingWorker(log, worker) === pid && !hasEnded()) await sleep(RETRY_MS);
}

/** Returns its process id if the log says that it is ready and not that it has ended. Before that, it may fail to start. */
function livingWorker(log: Program["log"], worker: number): number | null {
  const lines = log.filter((line) => line["worker"] === worker);
  const pid = lines.findLast(({ msg }) => msg === "worker ready")?.["pid"];
  const isOver = lines.some((line) => line["pid"] === pid && line["msg"] === ENDED);
  return typeof pid === "number" && !isOver ? pid : null;
}

/** One of the two services: the built program, restarted whenever it was killed. */
export class Service {
  readonly slot: Slot;
  readonly #afterwards: Afterwards;
  readonly #env: Record<string, string>;
  readonly #programs: Program[] = [];
  readonly #crashes: string[] = [];
  #program: Promise<Program>;

  constructor(afterwards: Afterwards, slot: Slot, env: Record<string, string>) {
    this.slot = slot;
    this.#afterwards = afterwards;
    this.#env = env;
    this.#program = this.#start();
  }

  /** Logged errors that the outages do not explain, and unexpected ends, over all restarts. */
  get errors(): string[] {
    const isExplained = ({ err, msg }: Record<string, unknown>) =>
      msg === AWAY || (msg === UNRECORDED && isUnavailable(err));
    const errors = this.#programs.flatMap(({ log }) =>
      log.filter((line) => line["err"] && !isExplained(line)),
    );
    const told = errors.map(({ msg, err }) => `${String(msg)}: ${(err as Error).message}`);
    return [...told, ...this.#crashes];
  }

  /** The attempts whose outcomes are not in the audit, as the log says, over all restarts. */
  get unrecorded(): Unrecorded[] {
    return this.#programs.flatMap(({ log }) =>
      log.flatMap((line) => readUnrecorded(this.slot, line) ?? []),
    );
  }

  /** Resolves when it is ready. */
  async ready(): Promise<Program> {
    return this.#program;
  }

  /** Kills one of its workers, or with 0 the process that was started. Resolves when that has ended. */
  async kill(worker = 0): Promise<Harm> {
    const program = await this.#program;
    const from = Date.now();
    if (worker > 0) {
      await killWorker(program, worker);
      return { kind: "kill", slot: this.slot, from, until: Date.now() };
    }
    await program.end("SIGKILL");
    this.#program = this.#startAgain();
    this.#program.catch(() => undefined); // The error reaches those who await it.
    return { kind: "kill", slot: this.slot, from, until: Date.now() };
  }

  async pause(ms: number): Promise<Harm> {
    const { process: child } = await this.#program;
    const from = Date.now();
    child.kill("SIGSTOP");
    await sleep(ms);
    child.kill("SIGCONT");
    return { kind: "pause", slot: this.slot, from, until: Date.now() };
  }

  /** Stops it in order and returns the exit status. */
  async stop(): Promise<number | NodeJS.Signals | null> {
    return (await this.#program).end("SIGTERM");
  }

  /** Restarts it like a supervisor, until it works, because it cannot start while the database is down. */
  async #startAgain(): Promise<Program> {
    for (;;) {
      try {
        return await this.#start();
      } catch (error) {
        if (this.#afterwards.isOver) throw error;
        await sleep(RETRY_MS);
      }
    }
  }

  async #start(): Promise<Program> {
    const program = await startProgram(this.#afterwards, this.#env);
    this.#programs.push(program);
    program.process.once("exit", (status, signal) => {
      if (signal !== "SIGKILL" && status !== 0) {
        this.#crashes.push(`${this.slot} ended unexpectedly: ${program.complaint()}`);
      }
    });
    return program;
  }
}
