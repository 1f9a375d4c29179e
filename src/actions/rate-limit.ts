import { groupBy } from "../domain/group-by.ts";
import { allowanceAt, type Allowance } from "../domain/rate-window.ts";
import type { Caller } from "../domain/scope.ts";
import type { Queryable } from "../postgres/database.ts";
import { countRequests, insertWindows } from "../postgres/rate-windows.ts";
import type { Dependencies } from "./dependencies.ts";

export interface WindowRequest {
  organizationId: string;
  limit: number;
}

/** The place of a request in its organization's window; the first has place 1. */
export interface Counted {
  place: number;
  openedAt: Date;
}

/** Counts one request of the caller's organization. One count for all keys and all processes. */
export async function takeRequest(
  { gathered, clock }: Pick<Dependencies, "gathered" | "clock">,
  { organizationId, rateLimitPerMinute: limit }: Caller,
): Promise<Allowance> {
  const { place, openedAt } = await gathered.countRequest({ organizationId, limit });
  return allowanceAt(place, limit, openedAt, clock());
}

/** Counts requests of any organizations, each in the order in which they came. */
export async function countInWindows(
  db: Queryable,
  requests: WindowRequest[],
  time: { now: Date; expired: Date },
): Promise<Counted[]> {
  const wanted = groupBy(requests, (request) => request.organizationId);
  const rows = [...wanted].map(([organization_id, all]) => ({
    organization_id,
    wanted: all.length,
    quota: Math.max(...all.map((request) => request.limit)),
  }));

  const windows = await countRequests(db, rows, time);
  const missing = rows.filter((r) => !windows.some((w) => w.organization_id === r.organization_id));
  if (missing.length > 0) {
    await insertWindows(
      db,
      missing.map((r) => r.organization_id),
    );
    windows.push(...(await countRequests(db, missing, time)));
  }

  const byId = new Map(windows.map((w) => [w.organization_id, { ...w, place: w.used_before }]));
  return requests.map(({ organizationId }) => {
    const window = byId.get(organizationId);
    if (!window) throw new Error(`no rate window for organization ${organizationId}`);
    return { place: ++window.place, openedAt: window.opened_at };
  });
}
