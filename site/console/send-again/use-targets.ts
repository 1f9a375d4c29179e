import { pathOf } from "../api/call.ts";
import type { Page, Subscription } from "../api/shapes.ts";
import { useQuery } from "../api/use-query.ts";

/** The active subscriptions of the organization whose deliveries are sent again, by id. */
export function useTargets({
  organization,
  subscription,
}: Record<string, string>): Record<string, string> {
  const own = useQuery<Subscription>(
    organization === undefined && subscription !== undefined
      ? `subscriptions/${encodeURIComponent(subscription)}`
      : null,
  );
  const owner = organization ?? own.data?.organization_id;
  const { data } = useQuery<Page<Subscription>>(
    owner === undefined
      ? null
      : pathOf("subscriptions", { organization: owner, active: "true", limit: "100" }),
  );
  return Object.fromEntries((data?.items ?? []).map(({ id, url }) => [id, url]));
}
