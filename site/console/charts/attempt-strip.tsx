import type { RecentAttempt } from "../api/shapes.ts";
import { milliseconds } from "../components/numbers.ts";
import { exactly } from "../components/time-words.ts";

const HEIGHT_MIN = 18;

/** Attempts side by side, the oldest first. The height is the response time, and a failure is striped. */
export function AttemptStrip({
  attempts,
  isSmall = false,
}: {
  attempts: RecentAttempt[];
  isSmall?: boolean;
}) {
  const failed = attempts.filter(({ reason }) => reason !== null).length;
  const slowest = Math.max(1, ...attempts.map(({ duration_ms: ms }) => ms));
  const height = (ms: number) =>
    HEIGHT_MIN + ((100 - HEIGHT_MIN) * Math.sqrt(ms)) / Math.sqrt(slowest);
  return (
    <div
      class={isSmall ? "strip small" : "strip"}
      role="img"
      aria-label={`The last ${attempts.length} attempts: ${failed} failed`}
    >
      {attempts.map((attempt) => (
        <span
          key={`${attempt.at} ${attempt.duration_ms}`}
          class={attempt.reason === null ? "" : "failed"}
          title={wordsOf(attempt)}
          style={{ height: `${height(attempt.duration_ms)}%` }}
        />
      ))}
    </div>
  );
}

function wordsOf({ at, reason, http_status: status, duration_ms: ms }: RecentAttempt): string {
  return `${reason ?? `http_${status}`}, ${milliseconds(ms)}, ${exactly(at)}`;
}
