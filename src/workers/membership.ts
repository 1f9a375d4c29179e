import cluster from "node:cluster";
import { type Answers, type FromWorker, WORKER_VARIABLE, type ToWorker } from "./messages.ts";

/** A worker's side of the channel to its parent. */
export interface Membership {
  /** From 1. Its successor has the same. */
  worker: number;
  /** The database that the parent keeps open for its workers. Its schema is up to date. */
  databaseUrl: string;
  /** Says how this worker answers a question. */
  answer: (what: string, value: () => Promise<unknown>) => void;
  /** Asks all workers, this one included. */
  ask: (what: string) => Promise<Answers>;
  /** Sends a text to all other workers. */
  tell: (text: string) => void;
  onNews: (hear: (text: string) => void) => void;
  /** Calls `stop` when the parent says so. */
  onStop: (stop: () => void) => void;
  /** Calls `stop` when the parent has ended without a word. */
  onOrphaned: (stop: () => void) => void;
  /** Says that this worker serves. */
  ready: (facts: unknown) => void;
  /** Says why this worker cannot start. Resolves when that is sent. */
  failed: (reason: string) => Promise<void>;
}

/** Returns null if this process is no worker. Throws if it is one of another program, which would not answer. */
export async function joinParent(variables: NodeJS.ProcessEnv): Promise<Membership | null> {
  const self = cluster.worker;
  if (self === undefined) return null;
  if (variables[WORKER_VARIABLE] === undefined)
    throw new Error(
      "a cluster of another program has started this process, such as pm2 with -i: start it as a single process, and set WORKERS",
    );

  const answers = new Map<string, () => Promise<unknown>>();
  const asked = new Map<number, (answers: Answers) => void>();
  let questions = 0;
  let hear: (text: string) => void = () => undefined;
  let stop = (): void => process.exit(0);
  let stopAlone = (): void => process.exit(1);

  const begun = new Promise<{ worker: number; databaseUrl: string }>((resolve) => {
    process.on("message", (message: ToWorker) => {
      if (message.kind === "begin") resolve(message);
      else if (message.kind === "ask") void reply(message.id, message.what);
      else if (message.kind === "news") hear(message.text);
      else if (message.kind === "stop") stop();
      else take(message.id, message.answers);
    });
  });
  self.on("error", () => undefined); // Node.js itself sends to a parent that has ended. The disconnection follows.
  self.on("disconnect", () => {
    self.exitedAfterDisconnect = true; // Otherwise Node.js ends this process at once.
    stopAlone();
  });
  void send({ kind: "joining" });
  const { worker, databaseUrl } = await begun;

  return {
    worker,
    databaseUrl,
    answer: (what, value) => void answers.set(what, value),
    ask: (what) => {
      const id = ++questions;
      void send({ kind: "ask", id, what });
      return new Promise((resolve) => asked.set(id, resolve));
    },
    tell: (text) => void send({ kind: "news", text }),
    onNews: (heard) => (hear = heard),
    onStop: (stopNow) => (stop = stopNow),
    onOrphaned: (stopNow) => (stopAlone = stopNow),
    ready: (facts) => void send({ kind: "ready", facts }),
    failed: (reason) => send({ kind: "failed", reason }),
  };

  async function reply(id: number, what: string): Promise<void> {
    const value = await answers
      .get(what)?.()
      .catch(() => null);
    await send({ kind: "answer", id, value: value ?? null });
  }

  function take(id: number, all: Answers): void {
    asked.get(id)?.(all);
    asked.delete(id);
  }
}

/** Resolves when the message has left, or cannot because the parent has ended. */
function send(message: FromWorker): Promise<void> {
  return new Promise((resolve) => {
    if (!process.connected) resolve();
    else process.send?.(message, undefined, undefined, () => resolve());
  });
}
