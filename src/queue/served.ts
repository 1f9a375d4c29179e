import type { Wanted } from "../subjects/deliveries/claims.ts";

/** Returns the subscriptions that a claim reached, and whether they may have more due. `taken`: one id for each delivery. */
export function served({ quotas, limit }: Wanted, taken: string[]) {
  const claimed = new Map<string, number>();
  for (const id of taken) claimed.set(id, (claimed.get(id) ?? 0) + 1);

  const isCutShort = taken.length >= limit;
  const last = isCutShort
    ? quotas.findLastIndex(({ subscriptionId }) => claimed.has(subscriptionId))
    : quotas.length - 1;
  return quotas.slice(0, last + 1).map(({ subscriptionId: id, quota }, index) => ({
    id,
    mayHaveMore: claimed.get(id) === quota || (isCutShort && index === last),
  }));
}
