import { isObject } from "../lib/objects.ts";
import { partsOf, type Schema } from "./schema-index.ts";

const DRAFT_2020_12 = "https://json-schema.org/draft/2020-12/schema";
const SPELT_2020_12 = /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;
const DRAFT_07 = /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/;

/** Keywords that draft-07 does not know, and that say which data is valid. */
const NEWER = [
  ...["unevaluatedProperties", "unevaluatedItems", "prefixItems", "dependentRequired"],
  ...["dependentSchemas", "minContains", "maxContains", "$anchor", "$dynamicAnchor", "$dynamicRef"],
];
/** May stand beside a `$ref` of draft-07, which ignores all else. */
const BESIDE_REF = new Set(
  ["$ref", "$schema", "$id", "$comment", "$defs", "definitions", "title", "description"].concat(
    ...["default", "examples", "readOnly", "writeOnly", "deprecated"],
  ),
);

/** Whether a keyword that no vocabulary knows is permitted. */
export function isAnnotation(keyword: string, annotations: readonly string[]): boolean {
  return keyword.startsWith("x-") || annotations.includes(keyword);
}

/** Tells what stands at a JSON pointer. */
type Tell = (pointer: string, detail: string) => void;

/**
 * Returns a schema in JSON Schema 2020-12. A schema of draft-07 is translated; `tell` hears of each keyword whose meaning differs.
 * `isAnnotation` says which further keywords may stand beside a `$ref` of draft-07.
 */
export function toDraft2020(
  schema: Schema,
  { isAnnotation, tell }: { isAnnotation: (keyword: string) => boolean; tell: Tell },
): Schema {
  return translate(schema, "", false) as Schema;

  function translate(value: unknown, at: string, isInside07: boolean): unknown {
    if (!isObject(value)) return value;
    const { $schema, ...rest } = value;
    const is07 = dialectOf($schema, at, isInside07);
    if (is07) blameNewer(rest, at);
    const walked = Object.fromEntries(
      Object.entries(rest).map(([keyword, inner]) => [
        keyword,
        subschemas(keyword, inner, `${at}/${keyword}`, is07),
      ]),
    );
    const result = is07 ? modernize(walked) : walked;
    return at === "" && $schema !== undefined ? { $schema: DRAFT_2020_12, ...result } : result;
  }

  function subschemas(keyword: string, value: unknown, at: string, is07: boolean): unknown {
    const inner = (part: unknown, step: string | number) => translate(part, `${at}/${step}`, is07);
    const parts = partsOf(keyword);
    if (Array.isArray(value)) {
      return parts === "items" || (is07 && keyword === "items") ? value.map(inner) : value;
    }
    if (parts === "itself" || (is07 && keyword === "additionalItems"))
      return translate(value, at, is07);
    if (parts !== "members" || !isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => [name, inner(part, name)]),
    );
  }

  function dialectOf($schema: unknown, at: string, isInside07: boolean): boolean {
    if ($schema === undefined) return isInside07;
    const name = typeof $schema === "string" ? $schema : "";
    if (DRAFT_07.test(name)) return true;
    if (!SPELT_2020_12.test(name)) {
      tell(`${at}/$schema`, `must be ${DRAFT_2020_12} or http://json-schema.org/draft-07/schema#`);
    }
    return false;
  }

  function blameNewer(schema: Schema, at: string): void {
    for (const keyword of NEWER) {
      if (!Object.hasOwn(schema, keyword)) continue;
      tell(
        `${at}/${keyword}`,
        "is not known to draft-07, which ignores it: declare 2020-12 in $schema",
      );
    }
    if (typeof schema["$ref"] !== "string") return;
    for (const keyword of Object.keys(schema)) {
      if (BESIDE_REF.has(keyword) || isAnnotation(keyword)) continue;
      tell(
        `${at}/${keyword}`,
        "is ignored beside $ref in draft-07: remove it, or declare 2020-12 in $schema",
      );
    }
  }
}

/** Renames what 2020-12 writes in another way. */
function modernize(schema: Schema): Schema {
  const { items, additionalItems, dependencies, $id, $ref, ...rest } = schema;
  const result: Schema = { ...rest };
  if (typeof $ref === "string") return { $ref, ...result };
  if (typeof $id === "string" && $id.startsWith("#")) {
    if (!/^#(?:\/|$)/.test($id)) result["$anchor"] = $id.slice(1);
  } else if ($id !== undefined) result["$id"] = $id;
  if (Array.isArray(items)) {
    if (items.length > 0) result["prefixItems"] = items;
    if (additionalItems !== undefined) result["items"] = additionalItems;
  } else if (items !== undefined) result["items"] = items;
  if (isObject(dependencies)) {
    const entries = Object.entries(dependencies);
    const lists = entries.filter(([, value]) => Array.isArray(value));
    const schemas = entries.filter(([, value]) => !Array.isArray(value));
    if (lists.length > 0) result["dependentRequired"] = Object.fromEntries(lists);
    if (schemas.length > 0) result["dependentSchemas"] = Object.fromEntries(schemas);
  }
  return result;
}
