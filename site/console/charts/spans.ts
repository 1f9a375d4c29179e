/** The spans of charts, each with the step of its points. */
export const SPANS = {
  hour: { label: "Hour", ms: 3_600_000, step: "1m", stepMs: 60_000, refreshMs: 5_000 },
  day: { label: "Day", ms: 86_400_000, step: "5m", stepMs: 300_000, refreshMs: 30_000 },
  week: { label: "Week", ms: 604_800_000, step: "1h", stepMs: 3_600_000, refreshMs: 60_000 },
} as const;

export type SpanName = keyof typeof SPANS;

export const SPAN_LABELS: Record<SpanName, string> = { hour: "Hour", day: "Day", week: "Week" };
