/** The variable by which a worker knows that its parent is ours. */
export const WORKER_VARIABLE = "PARTNER_API_WORKER";

/** What a worker sends to its parent. */
export type FromWorker =
  | { kind: "joining" }
  | { kind: "ready"; facts: unknown }
  | { kind: "failed"; reason: string }
  | { kind: "ask"; id: number; what: string }
  | { kind: "answer"; id: number; value: unknown }
  | { kind: "news"; text: string };

/** What a parent sends to a worker. */
export type ToWorker =
  | { kind: "begin"; worker: number; databaseUrl: string }
  | { kind: "ask"; id: number; what: string }
  | { kind: "answers"; id: number; answers: Answers }
  | { kind: "news"; text: string }
  | { kind: "stop" };

/** What each worker said to a question. */
export interface Answers {
  /** Of those that are ready. `value` is null if a worker did not answer in time. */
  ready: { worker: number; value: unknown }[];
  /** What those that have ended had counted, if the question is the one for counts. */
  ended: unknown;
  /** How many workers there should be. */
  count: number;
}
