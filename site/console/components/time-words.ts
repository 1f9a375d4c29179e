const STEPS: [number, string][] = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
  [1, "s"],
];

/** A span in its largest whole unit: "3 min". */
export function spanInWords(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const [size, unit] = STEPS.find(([size]) => whole >= size) ?? [1, "s"];
  return `${Math.floor(whole / size)} ${unit}`;
}

/** How far a time is from now: "3 min ago", "in 2 h". */
export function relatively(at: Date, now: Date): string {
  const seconds = (now.getTime() - at.getTime()) / 1000;
  if (Math.abs(seconds) < 1) return "now";
  return seconds > 0 ? `${spanInWords(seconds)} ago` : `in ${spanInWords(-seconds)}`;
}

const LOCAL = new Intl.DateTimeFormat(undefined, {
  dateStyle: "medium",
  timeStyle: "long",
});

/** In the operator's time zone, and in UTC. */
export function exactly(at: string): string {
  return `${LOCAL.format(new Date(at))}, ${utc(at)}`;
}

export function utc(at: string): string {
  return `${at.replace("T", " ").slice(0, 19)} UTC`;
}
