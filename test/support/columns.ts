/** A member of each item. */
export function column<Item, Name extends keyof Item>(
  items: readonly Item[] | undefined,
  name: Name,
) {
  return items?.map((item) => item[name]);
}

/** Some members of each item, as the rows of a table. */
export function columns<Item, Name extends keyof Item>(
  items: readonly Item[] | undefined,
  ...names: Name[]
) {
  return items?.map((item) => names.map((name) => item[name]));
}
