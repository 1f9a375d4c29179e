/** One line of the results. */
export interface Row {
  scenario: string;
  /** A description with the rates behind the value. */
  measured: string;
  /** Null if this machine cannot measure it. */
  value: number | null;
  unit: Unit;
  /** The direction of the goal. */
  bound: "at least" | "at most";
  must: number;
  aim: number;
}

export type Unit = "×" | "/s" | "ms" | "µs" | "MB" | "B" | "";

export type Verdict = "aim" | "must" | "missed" | "not measured";

export interface Measurement {
  value: number | null;
  measured: string;
}

type Goal = Pick<Row, "must" | "aim" | "unit">;

export function atLeast(scenario: string, goal: Goal, measurement: Measurement): Row {
  return { scenario, ...measurement, ...goal, bound: "at least" };
}

export function atMost(scenario: string, goal: Goal, measurement: Measurement): Row {
  return { scenario, ...measurement, ...goal, bound: "at most" };
}

export function verdictOn({ value, bound, must, aim }: Row): Verdict {
  if (value === null) return "not measured";
  const reaches = (goal: number) => (bound === "at least" ? value >= goal : value <= goal);
  if (reaches(aim)) return "aim";
  return reaches(must) ? "must" : "missed";
}
