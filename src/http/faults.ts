import type { FastifySchemaValidationError } from "fastify";
import type { Fault } from "../domain/errors.ts";
import { pointerOf, ruleOf } from "../domain/violation.ts";

/** More faults would help no one, and a body can have thousands. */
const FAULTS_MAX = 20;

/** A fault as the validator reports it in verbose mode, with the violated schema. */
export type Violation = FastifySchemaValidationError & { parentSchema?: Described };

interface Described {
  description?: string;
  properties?: Record<string, Described>;
}

/** Returns the faults in our words, ordered by place. Quotes nothing of the request. */
export function faultsOf(violations: readonly Violation[]): Fault[] {
  const listed = new Set(
    violations.filter((one) => one.keyword === "enum").map((one) => one.instancePath),
  );
  return violations
    .filter((one) => one.keyword !== "type" || !listed.has(one.instancePath)) // An enum fault says more than a type fault.
    .slice(0, FAULTS_MAX)
    .map((violation) => toFault(violation))
    .sort((a, b) => a.pointer.localeCompare(b.pointer, "en", { numeric: true }));
}

function toFault(violation: Violation): Fault {
  const { keyword, params, parentSchema } = violation;
  const missing = keyword === "required" ? String(params["missingProperty"]) : null;
  const wanted = missing === null ? parentSchema : parentSchema?.properties?.[missing];
  const hint = wanted?.description === undefined ? "" : `. ${wanted.description}`;
  return { pointer: pointerOf(violation), detail: ruleOf(violation) + hint };
}
