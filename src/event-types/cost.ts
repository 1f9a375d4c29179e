import { isObject } from "../lib/objects.ts";
import { DATA_DEPTH_MAX } from "../subjects/events/rules.ts";
import type { PatternCosts } from "./pattern-cost.ts";
import { type Schema, subschemasOf } from "./schema-index.ts";

/** A bound of the steps of a validation: `fixed`, for each character of the data, and for each pair of characters. */
interface Cost {
  fixed: number;
  linear: number;
  square: number;
}

/** For data whose JSON has so many characters. */
export function stepsOf({ fixed, linear, square }: Cost, length: number): number {
  return fixed + linear * length + square * length ** 2;
}

/** A cost before it is known in how many levels it occurs. */
interface Weight extends Cost {
  /** Steps for each character of a subtree, which count again in each level of it. */
  subtree: number;
  /** How often the schema leads back into a schema around it. */
  loops: number;
  /** The outermost of these, as its place on the path. */
  lowest: number;
}

const NOTHING: Weight = { fixed: 0, linear: 0, square: 0, subtree: 0, loops: 0, lowest: Infinity };
const UNBOUNDED: Weight = { ...NOTHING, fixed: Infinity };

/** Schemas within that apply to the same value. */
const IN_PLACE = new Set([
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "if",
  "then",
  "else",
  "dependentSchemas",
]);
/** … to members by their names, so at most one of them to each value. */
const BY_NAME = new Set(["properties", "prefixItems"]);

/** `uniqueItems` makes a text of each item. */
const UNIQUE_STEPS = 10;
/** `multipleOf` with a fraction makes decimals of each number. */
const MULTIPLE_STEPS = 40;
/** Formats whose check takes a time that grows with the square of the length. */
const SQUARE_FORMATS = new Set(["url", "regex"]);

/**
 * Returns a bound of the steps that it takes to validate data by a schema of `$defs`. Infinite if they may grow faster than
 * the square of the data, such as for a schema that leads back to itself in two ways. Throws if a schema refers to itself
 * for the same value, which would never end.
 */
export function costsOf(
  $defs: Record<string, unknown>,
  costOfPattern: PatternCosts,
): (reference: string) => Cost {
  const known = new Map<string, Weight>();
  const path: { reference: string; level: number }[] = [];
  return (reference) => {
    const { fixed, linear, square } = ofReference(reference, 0);
    return { fixed, linear, square };
  };

  function ofReference(reference: string, level: number): Weight {
    const around = path.findIndex((one) => one.reference === reference);
    if (around >= 0) {
      if (path[around]?.level === level)
        throw new Error("a $ref leads to itself for the same value, without end");
      return { ...NOTHING, loops: 1, lowest: around };
    }
    const before = known.get(reference);
    if (before) return before;
    path.push({ reference, level });
    const own = weigh($defs[reference.replace("#/$defs/", "")], level);
    path.pop();
    const isOutermost = own.lowest >= path.length;
    const weight = isOutermost ? settled(own) : own;
    if (isOutermost) known.set(reference, weight);
    return weight;
  }

  function weigh(schema: unknown, level: number): Weight {
    if (!isObject(schema)) return NOTHING;
    let sum = ownWeight(schema);
    let named = NOTHING;
    if (typeof schema["$ref"] === "string") sum = both(sum, ofReference(schema["$ref"], level));
    for (const { keyword, schema: part } of subschemasOf(schema)) {
      if (IN_PLACE.has(keyword)) sum = both(sum, weigh(part, level));
      else if (BY_NAME.has(keyword)) named = either(named, weigh(part, level + 1));
      else sum = both(sum, repeated(weigh(part, level + 1)));
    }
    return both(sum, named);
  }

  function ownWeight(schema: Schema): Weight {
    const { enum: values, const: value, uniqueItems, pattern, patternProperties, format } = schema;
    const isMultiple = "multipleOf" in schema && !Number.isInteger(schema["multipleOf"]);
    const ofNames = Object.keys(isObject(patternProperties) ? patternProperties : {});
    const patterns = [
      ...(typeof pattern === "string" ? [weightOfPattern(pattern, schema["maxLength"])] : []),
      ...ofNames.map((text) => weightOfPattern(text, null)),
    ];
    const fixed =
      Object.keys(schema).length +
      sizeOf(schema["properties"]) +
      sizeOf(schema["required"]) +
      sizeOf(schema["dependentRequired"]) +
      leavesOf(values) +
      leavesOf(value);
    const linear = isMultiple ? MULTIPLE_STEPS : 1;
    const own = { ...NOTHING, fixed, linear, subtree: uniqueItems === true ? UNIQUE_STEPS : 0 };
    if (typeof format === "string" && SQUARE_FORMATS.has(format)) own.square += 1;
    return patterns.reduce(both, own);
  }

  function weightOfPattern(pattern: string, maxLength: unknown): Weight {
    const { factor, degree } = costOfPattern(pattern);
    // The validator checks `maxLength` first.
    if (typeof maxLength === "number" && Number.isFinite(degree)) {
      return { ...NOTHING, linear: factor * maxLength ** (degree - 1) };
    }
    if (degree === 1) return { ...NOTHING, linear: factor };
    return degree === 2 ? { ...NOTHING, square: factor } : UNBOUNDED;
  }
}

function both(a: Weight, b: Weight): Weight {
  return {
    fixed: a.fixed + b.fixed,
    linear: a.linear + b.linear,
    square: a.square + b.square,
    subtree: a.subtree + b.subtree,
    loops: a.loops + b.loops,
    lowest: Math.min(a.lowest, b.lowest),
  };
}

/** Each applies to other characters of the data. */
function either(a: Weight, b: Weight): Weight {
  return {
    fixed: a.fixed + b.fixed,
    linear: Math.max(a.linear, b.linear),
    square: Math.max(a.square, b.square),
    subtree: Math.max(a.subtree, b.subtree),
    loops: Math.max(a.loops, b.loops),
    lowest: Math.min(a.lowest, b.lowest),
  };
}

/** For any number of values: at most one for two characters. */
function repeated(weight: Weight): Weight {
  return { ...weight, fixed: 0, linear: weight.linear + weight.fixed / 2 };
}

/** A schema that leads back to itself applies in each level, and twice as often in each if it does so in two ways. */
function settled(weight: Weight): Weight {
  if (weight.loops > 1) return UNBOUNDED;
  const levels = weight.loops > 0 ? DATA_DEPTH_MAX : 1;
  const once = {
    ...weight,
    linear: weight.linear + weight.subtree * levels,
    subtree: 0,
    loops: 0,
    lowest: Infinity,
  };
  return weight.loops > 0 ? { ...once, linear: once.linear + once.fixed / 2 } : once;
}

function sizeOf(value: unknown): number {
  return typeof value === "object" && value !== null ? Object.keys(value).length : 0;
}

function leavesOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return 1 + Object.values(value).reduce((sum: number, one) => sum + leavesOf(one), 0);
}
