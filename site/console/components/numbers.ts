const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const FINE = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

export const count = (value: number): string => WHOLE.format(value);

/** The service counts exactly up to a number, and estimates larger ones. */
export const countOf = (value: number, estimated: boolean): string =>
  estimated ? `≈ ${WHOLE.format(value)}` : WHOLE.format(value);

export const rate = (value: number): string => (value < 100 ? FINE : WHOLE).format(value);

/** A share of one as percent. It never rounds up to 100. */
export function percent(share: number | null): string {
  if (share === null) return "–";
  const floored = Math.floor(share * 1000) / 10;
  return `${FINE.format(floored)} %`;
}

export function milliseconds(value: number | null): string {
  if (value === null) return "–";
  if (value < 1_000) return `${WHOLE.format(value)} ms`;
  if (value < 120_000) return `${FINE.format(value / 1_000)} s`;
  if (value < 7_200_000) return `${FINE.format(value / 60_000)} min`;
  return `${FINE.format(value / 3_600_000)} h`;
}

export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${WHOLE.format(value)} ${value === 1 ? one : many}`;
