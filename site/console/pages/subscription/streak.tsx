import type { SubscriptionDetail } from "../../api/shapes.ts";
import { Icon } from "../../components/icon.tsx";
import { Moment } from "../../components/time.tsx";

const DISABLED_AT = 20;

/** The failed attempts in a row. The twentieth disables the subscription. */
export function Streak({ subscription }: { subscription: SubscriptionDetail }) {
  const { consecutive_failures: streak, auto_disabled_at: disabledAt, health } = subscription;
  if (streak === 0) return <p class="quiet">No failed attempt since the last success.</p>;
  const first = health.recent.slice(-streak)[0];
  return (
    <>
      <div
        class="streak"
        role="img"
        aria-label={`${streak} of ${DISABLED_AT} failed attempts in a row`}
      >
        {Array.from({ length: DISABLED_AT }, (_, place) => (
          <span class={place < streak ? "on" : ""} />
        ))}
      </div>
      <p>
        <strong>
          {streak} of {DISABLED_AT}
        </strong>{" "}
        failed attempts in a row
        {first && (
          <>
            {" "}
            since <Moment at={first.at} />
          </>
        )}
        .
      </p>
      {disabledAt && (
        <div class="alert">
          <Icon name="ban" />
          <p>
            The last of these failures disabled the subscription and cancelled its waiting
            deliveries. A disabled subscription stays disabled: the partner deletes it and creates a
            new one. Then redeliver the cancelled deliveries to the new one.
          </p>
        </div>
      )}
    </>
  );
}
