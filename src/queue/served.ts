import type { Wanted } from "../subjects/deliveries/claims.ts";

/** Returns the subscriptions that a claim reached, and whether they may have more due. `taken`: one id for each delivery. */
export function served({ shares, limit }: Wanted, taken: string[]) {
  const claimed = new Map<string, number>();
  for (const id of taken) claimed.set(id, (claimed.get(id) ?? 0) + 1);

  const isCutShort = taken.length >= limit;
  const last = isCutShort
    ? shares.findLastIndex(({ subscriptionId }) => claimed.has(subscriptionId))
    : shares.length - 1;
  return shares.slice(0, last + 1).map(({ subscriptionId: id, share }, index) => ({
    id,
    mayHaveMore: claimed.get(id) === share || (isCutShort && index === last),
  }));
}
