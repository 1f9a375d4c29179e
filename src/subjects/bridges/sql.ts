import type { BridgeId } from "../../lib/ids.ts";
import type { Queryable } from "../../postgres/database.ts";
import type { BridgeReport } from "./rules.ts";

/** A bridge as it last reported itself. */
export interface KnownBridge extends BridgeReport {
  id: BridgeId;
  startedAt: Date;
  lastSeenAt: Date;
}

export async function recordBridge(
  db: Queryable,
  id: BridgeId,
  { version, host, pid, sources }: BridgeReport,
  now: Date,
): Promise<void> {
  await db`
    insert into bridges (id, version, host, pid, started_at, last_seen_at, sources)
    values (${id}, ${version}, ${host}, ${pid}, ${now}, ${now}, ${JSON.stringify(sources)}::text::jsonb)
        on conflict (id) do update
       set last_seen_at = excluded.last_seen_at, sources = excluded.sources`;
}

export async function deleteBridge(db: Queryable, id: BridgeId): Promise<void> {
  await db`delete from bridges where id = ${id}`;
}

/** Keeps the `max` bridges that reported last. */
export async function deleteBridgesBeyond(
  db: Queryable,
  max: number,
  unseenSince: Date,
): Promise<void> {
  await db`
    delete from bridges
     where id in (select id from bridges order by last_seen_at desc, id offset ${max} for update skip locked)
        or last_seen_at < ${unseenSince}`;
}

/** Returns bridges, the latest start first. */
export async function listBridges(
  db: Queryable,
  { unseenSince, limit }: { unseenSince: Date; limit: number },
): Promise<KnownBridge[]> {
  return db<KnownBridge[]>`
    select id, version, host, pid, started_at as "startedAt", last_seen_at as "lastSeenAt", sources
      from bridges
     where last_seen_at >= ${unseenSince}
     order by started_at desc, id
     limit ${limit}`;
}
