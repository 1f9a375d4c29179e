import type { Problem as PartnerProblem, Result } from "../../src/client/partner-client.ts";
import { Problem } from "../console/api/problem.ts";

/** A refusal of the service, in words. */
export class Refusal extends Problem {
  readonly retryAfter: number | null;

  constructor(problem: PartnerProblem) {
    super(problem.status, problem);
    this.retryAfter = problem.retryAfter;
  }
}

const AGAIN_AFTER_MS = 5_000;

/** When a request that failed for a time may be made again. */
export function againAfterMs(error: Problem): number {
  const seconds = error instanceof Refusal ? error.retryAfter : null;
  return seconds === null ? AGAIN_AFTER_MS : seconds * 1_000;
}

/** Returns the data of a call. Throws a `Problem`, with status 0 if there was no answer. */
export async function answerOf<Data>(call: Promise<Result<Data>>): Promise<Data> {
  let result;
  try {
    result = await call;
  } catch (error) {
    // The name is that of a network fault or of a time limit. A TypeError of our own client names the argument.
    if (error instanceof TypeError && /token|id must/.test(error.message)) throw error;
    throw new Problem(0, { detail: "The service is unreachable." });
  }
  if (result.error !== null) throw new Refusal(result.error);
  return result.data;
}

/** A new key for a request that may be repeated. `crypto.randomUUID` is missing on plain http. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
