/**
 * Returns an array in PostgreSQL's notation, for a cast to the type. It is JSON with other brackets, except for control
 * characters. So texts must contain none.
 */
export function arrayText(values: readonly (string | number | boolean | Date | null)[]): string {
  return `{${JSON.stringify(values).slice(1, -1)}}`;
}
