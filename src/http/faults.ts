import type { FastifySchemaValidationError } from "fastify";
import type { Fault } from "../domain/errors.ts";

/** More than this helps nobody: a body can hold thousands of faults. */
const FAULTS_MAX = 20;

/** A fault as the validator reports it in verbose mode, with the schema that was broken. */
type Violation = FastifySchemaValidationError & { parentSchema?: Described };

interface Described {
  description?: string;
  properties?: Record<string, Described>;
}

/** Says in our own words what is wrong and where, in order of place. Repeats nothing of the request. */
export function faultsOf(violations: readonly Violation[]): Fault[] {
  const listed = new Set(
    violations.filter((one) => one.keyword === "enum").map((one) => one.instancePath),
  );
  return violations
    .filter((one) => one.keyword !== "type" || !listed.has(one.instancePath)) // Its type says less.
    .slice(0, FAULTS_MAX)
    .map((violation) => toFault(violation))
    .sort((a, b) => a.pointer.localeCompare(b.pointer, "en", { numeric: true }));
}

function toFault({ instancePath, keyword, params, parentSchema }: Violation): Fault {
  const missing = keyword === "required" ? String(params["missingProperty"]) : null;
  const wanted = missing === null ? parentSchema : parentSchema?.properties?.[missing];
  const hint = wanted?.description === undefined ? "" : `. ${wanted.description}`;
  return {
    pointer: missing === null ? instancePath : `${instancePath}/${missing}`,
    detail: rule(keyword, params) + hint,
  };
}

/** The rule that was broken. All that it quotes comes from our schemas. */
function rule(keyword: string, params: Record<string, unknown>): string {
  const limit = Number(params["limit"]);
  switch (keyword) {
    case "required":
      return "is required";
    case "type":
      return `must be ${[params["type"]].flat().map(withArticle).join(" or ")}`;
    case "enum":
      return `must be one of ${[params["allowedValues"]].flat().join(", ")}`;
    case "minItems":
      return `must have at least ${limit} ${limit === 1 ? "item" : "items"}`;
    case "maxItems":
      return `must have at most ${limit} items`;
    case "uniqueItems":
      return "must not hold an item twice";
    case "minLength":
      return `must have at least ${limit} ${limit === 1 ? "character" : "characters"}`;
    case "maxLength":
      return `must have at most ${limit} characters`;
    case "minimum":
      return `must be at least ${limit}`;
    case "maximum":
      return `must be at most ${limit}`;
    default:
      return "is not of the expected form";
  }
}

function withArticle(type: unknown): string {
  const name = String(type);
  if (name === "null") return name;
  return /^[aeio]/.test(name) ? `an ${name}` : `a ${name}`;
}
