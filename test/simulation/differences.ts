import { isDeepStrictEqual } from "node:util";
import type { State } from "./state.ts";

/** Lists the differences between two states, one per line. */
export function differences(tables: State, contract: State): string[] {
  const kinds = ["subscriptions", "deliveries", "attempts", "keys"] as const;
  return kinds.flatMap((kind) => {
    const ids = new Set([...Object.keys(tables[kind]), ...Object.keys(contract[kind])]);
    return [...ids]
      .map((id) => ({ id, actual: tables[kind][id], expected: contract[kind][id] }))
      .filter(({ actual, expected }) => !isDeepStrictEqual(actual, expected))
      .map(({ id, actual, expected }) =>
        [`${kind} ${id}`, `  tables:   ${show(actual)}`, `  contract: ${show(expected)}`].join(
          "\n",
        ),
      );
  });
}

function show(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value);
}
