import type { Operation, Problem } from "./problem.ts";

/** The result of a call. `data` is set if `error` is null. */
export type Result<Data, Of extends Operation = Operation> =
  { data: Data; error: null } | { data: null; error: Problem<Of> };

/** A refusal as an exception. */
export class PartnerApiError extends Error {
  /** Its `code` tells refusals apart. */
  readonly problem: Problem;

  constructor(problem: Problem) {
    const { status, code, detail, errors, request_id } = problem;
    const faults = errors.map((fault) => ` ${fault.pointer} ${fault.detail}`).join(";");
    super(`${status} ${code}: ${detail}${faults} (request ${request_id})`);
    this.name = "PartnerApiError";
    this.problem = problem;
  }
}

/** Returns the data of a result or throws a `PartnerApiError`. */
export function orThrow<Data>({ data, error }: Result<Data>): Data {
  if (error !== null) throw new PartnerApiError(error);
  return data;
}
