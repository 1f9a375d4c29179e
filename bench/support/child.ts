import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** The questions that a process answers, each with its details. */
export type Questions = Record<string, (details: never) => unknown>;

export interface Reply {
  id: number;
  answer?: unknown;
  error?: string;
}

interface Call {
  resolve: (answer: unknown) => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout;
}

const LIMIT_MS = 60_000;

/** A process from `bench/processes` that answers questions. Ends with this process. */
export class Child<Asked extends Questions> {
  readonly #name: string;
  readonly #process: ChildProcess;
  readonly #open = new Map<number, Call>();
  #lastId = 0;

  constructor(name: string) {
    this.#name = name;
    const file = fileURLToPath(new URL(`../processes/${name}.js`, import.meta.url));
    this.#process = fork(file, { env: { PATH: process.env["PATH"] }, execArgv: [] });
    this.#process.on("message", (reply) => {
      this.#settle(reply as Reply);
    });
    this.#process.once("exit", () => {
      for (const id of this.#open.keys()) this.#settle({ id, error: "ended" });
    });
  }

  async ask<Question extends keyof Asked & string>(
    question: Question,
    details: NonNullable<Parameters<Asked[Question]>[0]> | null = null,
    limitMs = LIMIT_MS,
  ): Promise<Awaited<ReturnType<Asked[Question]>>> {
    const id = ++this.#lastId;
    const answer = await new Promise<unknown>((resolve, reject) => {
      const error = `no answer to "${question}" within ${limitMs} ms`;
      const timer = setTimeout(() => {
        this.#settle({ id, error });
      }, limitMs);
      this.#open.set(id, { resolve, reject, timer });
      this.#process.send({ id, question, details });
    });
    return answer as Awaited<ReturnType<Asked[Question]>>;
  }

  /** Stops the process until `resume`. */
  pause(): void {
    this.#process.kill("SIGSTOP");
  }

  resume(): void {
    this.#process.kill("SIGCONT");
  }

  async end(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await exited;
  }

  #settle({ id, answer, error }: Reply): void {
    const call = this.#open.get(id);
    this.#open.delete(id);
    clearTimeout(call?.timer);
    if (error === undefined) call?.resolve(answer);
    else call?.reject(new Error(`${this.#name}: ${error}`));
  }
}
