/** Returns the code of an error, such as `ECONNREFUSED` or an SQLSTATE. Empty if it has none. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : "";
}

const TEXT_MAX = 1_000;

/** Returns the beginning of a text that another party wrote, for the log and the terminal. */
export function cut(text: string): string {
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text;
}

/** Groups items by key. Each group keeps the order of its items. */
export function groupBy<Key, Item>(
  items: Iterable<Item>,
  keyOf: (item: Item) => Key,
): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/** Finishes long work step by step. Between two steps the event loop serves others. */
export async function inSteps<Result>(work: Generator<undefined, Result>): Promise<Result> {
  let step = work.next();
  while (!step.done) {
    await new Promise(setImmediate);
    step = work.next();
  }
  return step.value;
}

/** Returns true for an object of JSON: neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
