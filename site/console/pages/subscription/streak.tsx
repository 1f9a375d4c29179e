import type { SubscriptionDetail } from "../../api/shapes.ts";
import { Icon } from "../../components/icon.tsx";
import { count } from "../../components/numbers.ts";
import { Moment } from "../../components/time.tsx";
import { useSession } from "../../session/session.tsx";
import { DisabledBy } from "./disabled-by.tsx";

const BOXES_MAX = 40;

/** Failed attempts in a row, of those that disable a subscription. */
export function InARow({ streak }: { streak: number }) {
  const { auto_disable_after: limit } = useSession();
  if (streak === 0) return <span class="quiet">0</span>;
  return <>{limit === undefined ? count(streak) : `${count(streak)} of ${count(limit)}`}</>;
}

/** The failed attempts in a row. The last of them disables the subscription. */
export function Streak({ subscription }: { subscription: SubscriptionDetail }) {
  const { consecutive_failures: streak, auto_disabled_at: disabledAt, health } = subscription;
  const { auto_disable_after: limit } = useSession();
  if (streak === 0) return <p class="quiet">No failed attempt since the last success.</p>;
  // An interrupted attempt is ours, and does not count. A long streak began before the last attempts.
  const counted = health.recent.filter(({ reason }) => reason !== "interrupted");
  const first = counted.length >= streak ? counted.at(-streak) : undefined;
  return (
    <>
      {limit !== undefined && <Boxes streak={streak} limit={limit} />}
      <p>
        <strong>
          <InARow streak={streak} />
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
            <DisabledBy id={subscription.id} at={disabledAt} /> disabled the subscription and
            cancelled its waiting deliveries. It stays disabled: the partner must create a new one
            and delete this one. Then redeliver the cancelled deliveries to the new one.
          </p>
        </div>
      )}
    </>
  );
}

/** A box for each attempt, or for several if the limit is high. */
function Boxes({ streak, limit }: { streak: number; limit: number }) {
  const boxes = Math.min(limit, BOXES_MAX);
  const full = Math.ceil((boxes * streak) / limit);
  return (
    <div class="streak" role="img" aria-label={`${streak} of ${limit} failed attempts in a row`}>
      {Array.from({ length: boxes }, (_, place) => (
        <span class={place < full ? "on" : ""} />
      ))}
    </div>
  );
}
