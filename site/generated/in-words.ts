const MINUTE_MS = 60_000;

/** Formats a duration for people: `2 hours`, `36 minutes`, `32 h 36 min`. */
export function inWords(ms: number): string {
  const minutes = Math.round(ms / MINUTE_MS);
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  if (hours === 0) return counted(rest, "minute");
  return rest === 0 ? counted(hours, "hour") : `${hours} h ${rest} min`;
}

function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
