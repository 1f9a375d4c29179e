import type { Operation, Problem } from "./problem.ts";

/** What a call came to: `data` when `error` is null. */
export type Result<Data, Of extends Operation = Operation> =
  { data: Data; error: null } | { data: null; error: Problem<Of> };

/** A refusal, thrown. */
export class PartnerApiError extends Error {
  /** To be told apart by its `code`. */
  readonly problem: Problem;

  constructor(problem: Problem) {
    const { status, code, detail, errors, request_id } = problem;
    const faults = errors.map((fault) => ` ${fault.pointer} ${fault.detail}`).join(";");
    super(`${status} ${code}: ${detail}${faults} (request ${request_id})`);
    this.name = "PartnerApiError";
    this.problem = problem;
  }
}

/** The data of a result, for whoever would rather catch a `PartnerApiError` than look at `error`. */
export function orThrow<Data>({ data, error }: Result<Data>): Data {
  if (error !== null) throw new PartnerApiError(error);
  return data;
}
