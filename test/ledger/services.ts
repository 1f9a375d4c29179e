import { setTimeout as sleep } from "node:timers/promises";
import { type Program, startProgram } from "../support/program.ts";
import type { Afterwards } from "./afterwards.ts";
import type { Slot } from "./journal.ts";

const RETRY_MS = 100;
const AWAY = "the database does not serve us: what needs it waits or is refused";

/** What was done to a service, or to the database, and from when until when. */
export interface Harm {
  kind: "kill" | "pause" | "database";
  /** Null: the database, and so both. */
  slot: Slot | null;
  from: number;
  until: number;
}

/** One of the two services: the built program, which is started again when it was killed. */
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

  /** What it logged of errors that are not the database's, and whether it ever ended by itself, in all its lives. */
  get errors(): string[] {
    const errors = this.#programs.flatMap(({ log }) =>
      log.filter(({ err, msg }) => err && msg !== AWAY),
    );
    const told = errors.map(({ msg, err }) => `${String(msg)}: ${(err as Error).message}`);
    return [...told, ...this.#crashes];
  }

  /** Resolves once it is ready. */
  async ready(): Promise<Program> {
    return this.#program;
  }

  async kill(): Promise<Harm> {
    const program = await this.#program;
    const from = Date.now();
    await program.end("SIGKILL");
    this.#program = this.#startAgain();
    this.#program.catch(() => undefined); // Told to whoever asks for it.
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

  /** Lets what is under way come to its end. Answers the exit status. */
  async stop(): Promise<number | NodeJS.Signals | null> {
    return (await this.#program).end("SIGTERM");
  }

  /** As whoever looks after a service does: until it works, for it does not start while the database is away. */
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
        this.#crashes.push(`${this.slot} ended by itself: ${program.complaint()}`);
      }
    });
    return program;
  }
}
