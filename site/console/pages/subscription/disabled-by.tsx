import { pathOf } from "../../api/call.ts";
import type { Attempt, Finds, Page } from "../../api/shapes.ts";
import { useQuery } from "../../api/use-query.ts";
import { recordAddress } from "../../place.ts";

/** More failures than a receiver's attempts in flight, which may end after the one that disabled it. */
const SEARCHED = "100";

/** The attempt that disabled a subscription. It ended at that very time. */
export function DisabledBy({ id, at }: { id: string; at: string }) {
  const { data } = useQuery<Page<Attempt>>(
    pathOf(`subscriptions/${id}/failures`, { limit: SEARCHED }),
  );
  const cause = data?.items.find(
    ({ attempted_at: began, duration_ms: ms }) => Date.parse(began) + ms === Date.parse(at),
  );
  const found = useQuery<Finds>(cause ? pathOf("find", { q: cause.id }) : null);
  const [delivery] = found.data?.items ?? [];
  if (cause === undefined || delivery === undefined) return <>The last of these failures</>;
  return (
    <a href={recordAddress("deliveries", delivery.id)} title={cause.id}>
      The last of these failures, with {cause.reason},
    </a>
  );
}
