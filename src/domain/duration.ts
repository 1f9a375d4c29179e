const UNITS_MS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

type Unit = keyof typeof UNITS_MS;

/** Milliseconds of a whole number and a unit, such as `30d` or `250ms`; null when it is no such thing. */
export function parseDuration(text: string): number | null {
  const match = /^([0-9]{1,15})(ms|s|m|h|d)$/.exec(text);
  if (match === null) return null;

  const ms = Number(match[1]) * UNITS_MS[match[2] as Unit];
  return Number.isSafeInteger(ms) ? ms : null;
}

/** What `parseDuration` reads back, in the largest unit that it is a whole number of: 5400 s are `90m`. */
export function formatDuration(ms: number): string {
  for (const [unit, unitMs] of Object.entries(UNITS_MS)) {
    if (ms >= unitMs && ms % unitMs === 0) return `${ms / unitMs}${unit}`;
  }
  return `${ms}ms`;
}
