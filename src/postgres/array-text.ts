export type Value = string | number | boolean | Date | null;

/** The columns of an item, by name. */
export type Columns<Item> = Record<string, (item: Item) => Value>;

/**
 * Returns an array in PostgreSQL's notation, for a cast to the type. It is JSON with other brackets, except for control
 * characters. So texts must contain none.
 */
export function arrayText(values: readonly Value[]): string {
  return `{${JSON.stringify(values).slice(1, -1)}}`;
}
