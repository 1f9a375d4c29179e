import { Worker } from "node:worker_threads";
import type { Fault } from "../lib/errors.ts";
import type { Definition } from "./definition.ts";

/** How long the check of one event may take. */
const DEADLINE_MS = 5_000;
/** The validator makes one function of a schema, whose stack grows with its alternatives. */
const STACK_MB = 32;
const TOO_SLOW = {
  pointer: "",
  detail: `takes more than ${DEADLINE_MS / 1_000} s to check against the type's schema: send less, or simplify the schema`,
};

/** What the thread is started with. */
export interface Folder {
  definitions: readonly Definition[];
  annotations: readonly string[];
}

/** The thread says that it has begun with an event, then which faults it has. */
export type Message = "begun" | { faults: Fault[] };

interface Job {
  type: string;
  text: string;
  resolve(faults: Fault[]): void;
  reject(error: unknown): void;
}

/**
 * Checks events one after the other in a thread of its own, so that no schema and no data can stop the others. It starts with
 * the first event. A check that takes too long is a fault of the event, and ends the thread.
 */
export class ValidationThread {
  readonly #folder: Folder;
  readonly #jobs: Job[] = [];
  #worker: Worker | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(folder: Folder) {
    this.#folder = folder;
  }

  faultsOf(type: string, text: string): Promise<Fault[]> {
    return new Promise((resolve, reject) => {
      this.#jobs.push({ type, text, resolve, reject });
      if (this.#jobs.length === 1) this.#sendFirst();
    });
  }

  #sendFirst(): void {
    const [job] = this.#jobs;
    if (!job) {
      this.#worker?.unref();
      return;
    }
    try {
      this.#worker ??= this.#start();
    } catch (error) {
      this.#finish((failed) => failed.reject(error)); // The system may permit no further thread.
      return;
    }
    this.#worker.ref();
    this.#worker.postMessage({ type: job.type, text: job.text });
  }

  #start(): Worker {
    const program = new URL("./validation-worker.js", import.meta.url);
    const resourceLimits = { stackSizeMb: STACK_MB };
    // Options such as `--input-type`, which a thread would inherit, are refused for a file.
    const options = { workerData: this.#folder, resourceLimits, execArgv: [] };
    const worker = new Worker(program, options);
    worker.on("message", (message: Message) => {
      if (message !== "begun") this.#finish((job) => job.resolve(message.faults));
      else this.#timer = setTimeout(() => this.#giveUp(worker), DEADLINE_MS);
    });
    worker.on("error", (error) => {
      this.#worker = undefined;
      this.#finish((job) => job.reject(error));
    });
    return worker;
  }

  #giveUp(worker: Worker): void {
    this.#worker = undefined;
    worker.removeAllListeners("message");
    void worker.terminate();
    this.#finish((job) => job.resolve([TOO_SLOW]));
  }

  #finish(end: (job: Job) => void): void {
    clearTimeout(this.#timer);
    const job = this.#jobs.shift();
    if (job) end(job);
    this.#sendFirst();
  }
}
