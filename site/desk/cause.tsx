import type { Failure } from "../../src/client/partner-client.ts";
import { useNow } from "../console/components/use-now.ts";
import { causes, DOCS } from "./service.ts";

/** Why an attempt failed, how to repair it, and when the next one follows. */
export function CauseOf({ failure }: { failure: Failure }) {
  const { reason, detail, attempt, duration_ms: ms } = failure;
  const cause = causes[reason.startsWith("http_") ? "http_<status>" : reason];
  return (
    <div class="cause">
      <p>
        <code>{reason}</code>
        {detail && (
          <>
            {" "}
            <code>{detail}</code>
          </>
        )}{" "}
        <span class="quiet">
          attempt {attempt}, after {ms} ms
        </span>
      </p>
      {cause && (
        <>
          <p>{cause.meaning}</p>
          <p>
            <strong>Repair.</strong> {cause.repair}{" "}
            <a href={`${DOCS}/troubleshooting#${cause.anchor}`}>How to see it with curl</a>
          </p>
        </>
      )}
      <p class="quiet">
        <NextAttempt of={failure} />
      </p>
    </div>
  );
}

export function NextAttempt({ of }: { of: Failure }) {
  const now = useNow();
  if (of.status === "dead_lettered") return <>No further attempt: all are used up.</>;
  if (of.next_attempt_at === null) return <>No further attempt.</>;
  const left = new Date(of.next_attempt_at).getTime() - now.getTime();
  return <>{left <= 0 ? "The next attempt was due." : `Next attempt in ${inWords(left)}.`}</>;
}

/** "2 h 13 min". */
export function inWords(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return `${Math.max(1, Math.round(ms / 1_000))} s`;
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  return [hours > 0 && `${hours} h`, (rest > 0 || hours === 0) && `${rest} min`]
    .filter(Boolean)
    .join(" ");
}
