import cluster, { type Worker as WorkerProcess } from "node:cluster";
import { once } from "node:events";
import { type FromWorker, WORKER_VARIABLE, type ToWorker } from "./messages.ts";

interface SuperviseOptions {
  count: number;
  /** What a worker runs, and its arguments. */
  program: string;
  args: string[];
  /** The database that this process keeps open for the workers. */
  databaseUrl: string;
  /** The question whose answers are counts. `addUp` adds those of workers that have ended. */
  counts: { what: string; addUp: (counts: unknown[]) => Promise<unknown> };
  log: Log;
}

type Log = Record<"info" | "warn" | "error", (facts: object, message: string) => void>;

export interface Workers {
  /** What the first worker said when it was ready. */
  facts: unknown;
  /** Tells all workers to stop. Returns true if each ended with status 0. */
  stop: () => Promise<boolean>;
}

/** How long an answer may take. It must be shorter than the patience of balancers and of Prometheus. */
const ANSWER_MS = 2_000;
/** A worker that is silent for this many checks is ended, so that another one takes its place. */
const CHECK_MS = 5_000;
const SILENT_CHECKS_MAX = 6;
/** The time before a worker is started again, which doubles with each end. One that ran for long begins anew. */
const AGAIN_MS = { first: 100, most: 30_000, longRun: 60_000 };

/**
 * Runs `count` processes that listen on the same ports, and starts each that ends again. The first one starts alone, so that what
 * hinders a start is told once. Resolves when all are ready.
 *
 * This process accepts the connections and hands them out in turn. If the workers accepted them from a shared handle, one of three
 * would get 80 of 90 connections that arrive together, and keep them.
 */
export async function superviseWorkers(options: SuperviseOptions): Promise<Workers> {
  cluster.schedulingPolicy = cluster.SCHED_RR;
  const { program: exec, args } = options;
  cluster.setupPrimary({ exec, args, execArgv: withoutProgram(process.execArgv) });
  const supervisor = new Supervisor(options);
  await supervisor.start();
  return supervisor;
}

/** Without the options that name another program. */
export function withoutProgram(execArgv: string[]): string[] {
  const evaluates = (option: string | undefined) => /^(?:-e|--eval|-p|--print)$/.test(option ?? "");
  return execArgv.filter(
    (option, i) =>
      !evaluates(option) && !evaluates(execArgv[i - 1]) && !option.startsWith("--input-type"),
  );
}

class Supervisor implements Workers {
  readonly #options: SuperviseOptions;
  readonly #workers: Worker[];
  /** What ended workers had counted. */
  #ended: unknown[] = [];
  #checking: NodeJS.Timeout | undefined;
  #isStopping = false;
  facts: unknown = null;

  constructor(options: SuperviseOptions) {
    this.#options = options;
    this.#workers = Array.from({ length: options.count }, (_, i) => new Worker(i + 1));
  }

  async start(): Promise<void> {
    process.once("exit", () => {
      for (const worker of this.#workers) worker.kill();
    });
    const [first, ...others] = this.#workers;
    try {
      this.facts = await (first && this.#start(first));
      await Promise.all(others.map((worker) => this.#start(worker)));
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.#checking = setInterval(() => this.#check(), CHECK_MS).unref();
  }

  readonly stop = async (): Promise<boolean> => {
    this.#isStopping = true;
    clearInterval(this.#checking);
    const ends = await Promise.all(this.#workers.map((worker) => worker.stop()));
    return ends.every((hasEndedWell) => hasEndedWell);
  };

  /** Starts the process of a worker. Resolves to its facts when it is ready. */
  #start(worker: Worker): Promise<unknown> {
    const { databaseUrl } = this.#options;
    return worker.start((message) => {
      if (message.kind === "ask") void this.#answer(worker, message);
      else if (message.kind === "news") this.#passOn(worker, message.text);
      else if (message.kind === "joining") {
        const begin = { kind: "begin", worker: worker.number, databaseUrl } as const;
        worker.send(this.#isStopping ? { kind: "stop" } : begin);
      }
    }, this.#onEnd);
  }

  readonly #onEnd = (worker: Worker, { wasReady, ...end }: End): void => {
    if (worker.counts !== null) this.#ended.push(worker.counts);
    worker.counts = null;
    if (this.#isStopping || !(wasReady || worker.hasServed)) return;
    const afterMs = worker.nextDelayMs();
    this.#options.log.warn(
      { worker: worker.number, ...end, after_ms: afterMs },
      "a worker has ended: it is started again",
    );
    worker.again = setTimeout(() => {
      const onError = ({ message }: Error) =>
        this.#options.log.error(
          { worker: worker.number, reason: message },
          "a worker could not start",
        );
      void this.#start(worker).catch(onError);
    }, afterMs);
  };

  /** A worker that hangs takes no new connection, but those that it has wait for it. */
  #check(): void {
    for (const worker of this.#workers.filter((one) => one.isReady)) {
      if (worker.silentChecks >= SILENT_CHECKS_MAX) {
        this.#options.log.error({ worker: worker.number }, "a worker hangs: it is ended");
        worker.kill();
      }
      worker.silentChecks++;
      void worker.ask("alive");
    }
  }

  async #answer(asker: Worker, { id, what }: { id: number; what: string }): Promise<void> {
    const { counts } = this.#options;
    const asked = this.#workers.filter((worker) => worker.isReady);
    const values = await Promise.all(asked.map((worker) => this.#askFor(worker, what)));
    const ready = asked
      .map((worker, i) => ({ worker, value: values[i] ?? null }))
      .filter(({ worker, value }) => worker.isReady || value !== null) // One that has ended meanwhile is not silent.
      .map(({ worker, value }) => ({ worker: worker.number, value }));
    const ended = what === counts.what ? await this.#addUpEnded() : null;
    asker.send({ kind: "answers", id, answers: { ready, ended, count: this.#workers.length } });
  }

  /** Counts are kept, so that no sum ever falls: not while a worker is silent, and not after its end. */
  async #askFor(worker: Worker, what: string): Promise<unknown> {
    const value = await worker.ask(what);
    if (what !== this.#options.counts.what) return value;
    if (value !== null && worker.isReady) worker.counts = value;
    return value ?? worker.counts;
  }

  async #addUpEnded(): Promise<unknown> {
    const ended = this.#ended;
    if (ended.length === 0) return null;
    this.#ended = [];
    const sum = await this.#options.counts.addUp(ended);
    this.#ended.unshift(sum);
    return sum;
  }

  #passOn(from: Worker, text: string): void {
    for (const worker of this.#workers) {
      if (worker !== from && worker.isReady) worker.send({ kind: "news", text });
    }
  }
}

/** How a worker ended. */
interface End {
  pid: number | undefined;
  status: number | null;
  signal: string | null;
  wasReady: boolean;
}

/** A worker: a process, and after its end the next one. */
class Worker {
  readonly number: number;
  isReady = false;
  /** True if one of its processes was ready once. */
  hasServed = false;
  counts: unknown = null;
  silentChecks = 0;
  again: NodeJS.Timeout | undefined;
  #process: WorkerProcess | undefined;
  #startedMs = 0;
  #delayMs = 0;
  #questions = 0;
  readonly #asked = new Map<number, (value: unknown) => void>();

  constructor(number: number) {
    this.number = number;
  }

  start(
    onMessage: (message: FromWorker) => void,
    onEnd: (worker: Worker, end: End) => void,
  ): Promise<unknown> {
    const child = cluster.fork({ [WORKER_VARIABLE]: this.number });
    closeUntaken(child);
    this.#process = child;
    this.#startedMs = performance.now();
    child.on("error", () => undefined); // A message to a worker that has ended. Its end is heard by itself.
    return new Promise((resolve, reject) => {
      let reason = "";
      child.on("message", (message: FromWorker) => {
        this.silentChecks = 0;
        if (message.kind === "answer") this.#take(message.id, message.value);
        else if (message.kind === "failed") reason = message.reason;
        else if (message.kind === "ready") {
          this.isReady = this.hasServed = true;
          resolve(message.facts);
        } else onMessage(message);
      });
      child.once("exit", (status: number | null, signal: string | null) => {
        const { isReady: wasReady } = this;
        this.isReady = false;
        for (const id of this.#asked.keys()) this.#take(id, null);
        const end = signal ?? `status ${status ?? ""}`;
        reject(new Error(reason || `worker ${this.number} ended with ${end} before it was ready`));
        onEnd(this, { pid: child.process.pid, status, signal, wasReady });
      });
    });
  }

  send(message: ToWorker): void {
    if (this.#process?.isConnected()) this.#process.send(message);
  }

  /** Resolves to null if the worker does not answer in time. */
  async ask(what: string): Promise<unknown> {
    const id = ++this.#questions;
    const late = setTimeout(() => this.#take(id, null), ANSWER_MS);
    this.send({ kind: "ask", id, what });
    const value = await new Promise((resolve) => this.#asked.set(id, resolve));
    clearTimeout(late);
    return value;
  }

  /** Returns true if it ended with status 0, or had ended before. */
  async stop(): Promise<boolean> {
    clearTimeout(this.again);
    const child = this.#process;
    if (child === undefined || child.isDead()) return true;
    this.send({ kind: "stop" });
    const [status] = (await once(child, "exit")) as [number | null];
    return status === 0;
  }

  kill(): void {
    this.#process?.process.kill("SIGKILL");
  }

  nextDelayMs(): number {
    const hasRunLong = performance.now() - this.#startedMs >= AGAIN_MS.longRun;
    this.#delayMs = hasRunLong || this.#delayMs === 0 ? AGAIN_MS.first : this.#delayMs * 2;
    return (this.#delayMs = Math.min(this.#delayMs, AGAIN_MS.most));
  }

  #take(id: number, value: unknown): void {
    this.#asked.get(id)?.(value);
    this.#asked.delete(id);
  }
}

/** Connections of both listeners that a worker has been given and may not have taken. Node.js gives it one of each at a time. */
const UNTAKEN_MAX = 8;

/**
 * Closes the connections that a worker was given and had not taken when it ended. Node.js (26 too) forgets them, and their clients
 * would wait for ever.
 */
function closeUntaken({ process: child }: WorkerProcess): void {
  const given: { close?: () => void }[] = [];
  const send = child.send.bind(child) as (message: unknown, handle?: unknown) => boolean;
  child.send = (message: unknown, handle?: unknown) => {
    if (handle !== undefined && handle !== null) given.push(handle);
    if (given.length > UNTAKEN_MAX) given.shift();
    return send(message, handle);
  };
  child.once("exit", () => {
    for (const handle of given) handle.close?.();
  });
}
