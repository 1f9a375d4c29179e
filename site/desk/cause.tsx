import type { Failure } from "../../src/client/partner-client.ts";
import { useNow } from "../console/components/use-now.ts";
import { DocsLink } from "./docs-link.tsx";
import { causes, facts } from "./service.ts";

/** Why an attempt failed, how to repair it, and when the next one follows. */
export function CauseOf({
  failure,
  isFollowed = false,
  isExplained = true,
  hasRecovered = false,
}: {
  failure: Failure;
  isFollowed?: boolean;
  /** False if the page explains the same cause already. */
  isExplained?: boolean;
  /** True if the receiver has acknowledged an attempt after this one. */
  hasRecovered?: boolean;
}) {
  const { reason, detail, attempt, duration_ms: ms } = failure;
  const status = /^http_(\d{3})$/.exec(reason)?.[1] ?? null;
  const cause = causes[status === null ? reason : "http_<status>"];
  const { details = {} } = cause ?? {};
  const exact = details[detail ?? status ?? ""] ?? details[`${status?.charAt(0)}xx`] ?? cause;
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
      {isExplained && cause && exact && (
        <>
          <p>{exact.meaning}</p>
          <p>
            <strong>Repair.</strong> {exact.repair}{" "}
            <DocsLink to={`/troubleshooting#${cause.anchor}`}>How to see it with curl</DocsLink>
          </p>
          {status !== null && /^40[0-3]$/.test(status) && (
            <p>
              If your receiver refuses the signature, <a href="#/check">check it</a>: the page names
              the likely mistake.
            </p>
          )}
        </>
      )}
      <p class="quiet">
        <NextAttempt of={failure} isFollowed={isFollowed} hasRecovered={hasRecovered} />
      </p>
    </div>
  );
}

/** How long after its time a failure of the next attempt is listed at the latest. */
const LISTED_MS = 30_000;

function NextAttempt({
  of,
  isFollowed,
  hasRecovered,
}: {
  of: Failure;
  isFollowed: boolean;
  hasRecovered: boolean;
}) {
  const now = useNow();
  if (isFollowed) return <>Attempt {of.attempt + 1} followed, and failed too.</>;
  if (of.status === "dead_lettered") return <>No further attempt: all are used up.</>;
  if (of.next_attempt_at === null) return <>No further attempt.</>;
  const left = new Date(of.next_attempt_at).getTime() - now.getTime();
  if (left > 0) return <>Next attempt in {inWords(left)}.</>;
  if (hasRecovered)
    return <>The next attempt followed, and your receiver has acknowledged since.</>;
  return left > -facts.attemptTimeoutMs - LISTED_MS ? (
    <>The next attempt is due.</>
  ) : (
    <>The next attempt was due, and no failure of it is listed.</>
  );
}

/** "2 h 13 min". */
function inWords(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return `${Math.max(1, Math.round(ms / 1_000))} s`;
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  return [hours > 0 && `${hours} h`, (rest > 0 || hours === 0) && `${rest} min`]
    .filter(Boolean)
    .join(" ");
}
