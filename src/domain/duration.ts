const UNITS_MS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

type Unit = keyof typeof UNITS_MS;

/** Converts `30d` or `250ms` to milliseconds. Returns null for anything but a whole number and a unit. */
export function parseDuration(text: string): number | null {
  const match = /^([0-9]{1,15})(ms|s|m|h|d)$/.exec(text);
  if (match === null) return null;

  const ms = Number(match[1]) * UNITS_MS[match[2] as Unit];
  return Number.isSafeInteger(ms) ? ms : null;
}

/** The inverse of `parseDuration`. Uses the largest unit that divides `ms`: 5400 s become `90m`. */
export function formatDuration(ms: number): string {
  for (const [unit, unitMs] of Object.entries(UNITS_MS)) {
    if (ms >= unitMs && ms % unitMs === 0) return `${ms / unitMs}${unit}`;
  }
  return `${ms}ms`;
}
