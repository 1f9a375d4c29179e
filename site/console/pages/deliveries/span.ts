/** Spans as people say them. In the address they are relative: `span=1h`. */
export const SPANS: Record<string, { label: string; ms: number }> = {
  "15m": { label: "last 15 minutes", ms: 900_000 },
  "1h": { label: "last hour", ms: 3_600_000 },
  "24h": { label: "last 24 hours", ms: 86_400_000 },
  "7d": { label: "last 7 days", ms: 604_800_000 },
};

/** The query with its span as a time from which on. */
export function absoluteSpan({ span, ...query }: Record<string, string>): Record<string, string> {
  const known = SPANS[span ?? ""];
  if (known === undefined) return query;
  return { ...query, since: new Date(Date.now() - known.ms).toISOString() };
}

/** Returns a time of the API as the browser's field for local time shows it. */
export function toLocalField(at: string | undefined): string {
  if (at === undefined || Number.isNaN(Date.parse(at))) return "";
  const time = new Date(at);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The time that such a field means, for the API; null if it is empty. */
export function fromLocalField(written: string): string | null {
  const at = Date.parse(written);
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}
