import type { Definition } from "./definition.ts";

/** Other types of the folder that a schema refers to by name, file or `$id`. */
export function referencesOf(
  { schema }: Definition,
  definitions: readonly Definition[],
): Definition[] {
  const wanted = new Set(
    [...refsIn(schema)].map((ref) => ref.replace(/#.*$/, "")).filter((target) => target !== ""),
  );
  return definitions.filter(({ name, schema: { $id } }) =>
    [name, `${name}.json`, $id].some((id) => typeof id === "string" && wanted.has(id)),
  );
}

function* refsIn(value: unknown): Generator<string> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    if (/^\$(dynamicRef|ref)$/.test(key) && typeof member === "string") yield member;
    else yield* refsIn(member);
  }
}
