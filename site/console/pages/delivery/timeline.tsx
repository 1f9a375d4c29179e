import type { ComponentChildren } from "preact";
import type { Attempt, Delivery, DeliveryDetail } from "../../api/shapes.ts";
import type { Tone } from "../../components/badge.tsx";
import { StateBadge } from "../../components/badge.tsx";
import { Icon, type IconName } from "../../components/icon.tsx";
import { CopiedId, IdLink } from "../../components/id.tsx";
import { milliseconds } from "../../components/numbers.ts";
import { Moment } from "../../components/time.tsx";
import { spanInWords } from "../../components/time-words.ts";

/** A delivery as a time line: published, each attempt, what comes next, and its redeliveries with their results. */
export function Timeline({ delivery }: { delivery: DeliveryDetail }) {
  const { attempt_log: attempts } = delivery;
  return (
    <ol class="timeline">
      <Published delivery={delivery} />
      {attempts.map((attempt) => (
        <AttemptStep key={attempt.id} attempt={attempt} />
      ))}
      <Ending delivery={delivery} />
      {delivery.redeliveries?.map((one) => (
        <RedeliveredAs key={one.id} delivery={one} />
      ))}
    </ol>
  );
}

function Step({
  tone = "neutral",
  icon,
  what,
  at,
  children,
}: {
  tone?: Tone;
  icon: IconName;
  what: ComponentChildren;
  at: string | null;
  children?: ComponentChildren;
}) {
  return (
    <li>
      <span class={`dot ${tone}`}>
        <Icon name={icon} />
      </span>
      <div>
        <div class="what">
          <span>{what}</span>
          {at && (
            <span class="when">
              <Moment at={at} />
            </span>
          )}
        </div>
        <div class="quiet">{children}</div>
      </div>
    </li>
  );
}

function Published({ delivery }: { delivery: DeliveryDetail }) {
  const { redelivery_of: before, request_id: request } = delivery;
  return (
    <Step
      icon={before ? "redeliveries" : "spark"}
      tone="info"
      what={before ? "Sent again" : "Published"}
      at={delivery.created_at}
    >
      {before ? (
        <>
          as a redelivery of <IdLink id={before} />
        </>
      ) : request ? (
        <>
          by request <CopiedId id={request} />
        </>
      ) : (
        "without an HTTP request, for example by SQL"
      )}
    </Step>
  );
}

function AttemptStep({ attempt }: { attempt: Attempt }) {
  const isGood = attempt.status === "delivered";
  const cause = isGood ? `http_${attempt.http_status}` : attempt.reason;
  return (
    <Step
      icon={isGood ? "check" : "cross"}
      tone={isGood ? "good" : "bad"}
      what={
        <>
          Attempt {attempt.attempt} {isGood ? "succeeded" : "failed"}
        </>
      }
      at={attempt.attempted_at}
    >
      <span class="id">{cause}</span>
      {attempt.detail && <span class="id"> {attempt.detail}</span>} after{" "}
      {milliseconds(attempt.duration_ms)}
      {attempt.next_attempt_at && `; the next one ${waitOf(attempt)} later`}
    </Step>
  );
}

function waitOf({ attempted_at: at, next_attempt_at: next }: Attempt): string {
  return spanInWords((Date.parse(next ?? at) - Date.parse(at)) / 1000);
}

function Ending({ delivery }: { delivery: DeliveryDetail }) {
  const { state, due_at: due, finished_at: finished } = delivery;
  switch (state) {
    case "waiting":
      return (
        <Step icon="clock" tone="info" what="Waiting" at={null}>
          {due && (
            <>
              attempt {delivery.attempts + 1} is due <Moment at={due} />
            </>
          )}
        </Step>
      );
    case "delivered":
      return <Step icon="check" tone="good" what="Delivered" at={finished} />;
    case "dead_lettered":
      return (
        <Step icon="dead" tone="bad" what="Dead-lettered" at={finished}>
          All attempts are used up.
        </Step>
      );
    case "cancelled":
      return (
        <Step icon="ban" what="Cancelled" at={finished}>
          {whyCancelled(delivery)}
        </Step>
      );
  }
}

/** Nothing waits for a subscription after it was disabled or deleted. */
function whyCancelled({ finished_at: at, subscription }: DeliveryDetail): string {
  const isAfter = (moment: string | null) => moment !== null && at !== null && at >= moment;
  if (isAfter(subscription.auto_disabled_at)) return "Its subscription was auto-disabled.";
  if (isAfter(subscription.deleted_at)) return "Its subscription was deleted.";
  return "The payload of its event was erased.";
}

function RedeliveredAs({ delivery }: { delivery: Delivery }) {
  const { id, state, reason, host, created_at: at } = delivery;
  return (
    <Step
      icon="redeliveries"
      tone="info"
      what={
        <>
          Sent again <StateBadge state={state} />
        </>
      }
      at={at}
    >
      as <IdLink id={id} /> to {host}
      {reason && (
        <>
          {" "}
          with last failure <span class="id">{reason}</span>
        </>
      )}
    </Step>
  );
}
