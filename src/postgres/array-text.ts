/**
 * An array in PostgreSQL's notation, to be cast to the type that is meant. JSON's differs in its brackets alone, but for
 * control characters: texts must hold none.
 */
export function arrayText(values: readonly (string | number | boolean | Date | null)[]): string {
  return `{${JSON.stringify(values).slice(1, -1)}}`;
}
