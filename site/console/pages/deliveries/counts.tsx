import type { DeliveriesPage, DeliveryState } from "../../api/shapes.ts";
import { pathOf } from "../../api/call.ts";
import { useQuery } from "../../api/use-query.ts";
import { count } from "../../components/numbers.ts";
import { Moment } from "../../components/time.tsx";
import { addressOf } from "../../place.ts";

/** Counts are exact up to this number. */
const EXACT_MAX = 10_000;

/** The matches in each state, each a link to them. An older service counts none. */
export function Counts({
  asked,
  query,
}: {
  asked: Record<string, string>;
  query: Record<string, string>;
}) {
  const { data } = useQuery<DeliveriesPage>(
    pathOf("deliveries", { ...asked, count: "true", limit: "1" }),
  );
  if (!data?.counts) return null;
  const { searched_until: end } = data;
  return (
    <p class="quiet" role="status" aria-label="Counts">
      {(Object.entries(data.counts) as [DeliveryState, number][]).map(([state, found], i) => (
        <>
          {i > 0 && ", "}
          <a href={addressOf("deliveries", { ...query, state })}>
            {found > EXACT_MAX ? `more than ${count(EXACT_MAX)}` : count(found)} {state}
          </a>
        </>
      ))}
      {end && (
        <>
          {" "}
          – only since <Moment at={end} />, where the search stopped
        </>
      )}
    </p>
  );
}
