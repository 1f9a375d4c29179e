import type { EventId } from "../domain/ids.ts";
import type { Queryable } from "./database.ts";

export interface StoredEvent {
  id: EventId;
  organizationSlug: string;
  type: string;
  occurredAt: Date;
  publishedAt: Date;
  /** Of the request that published it. */
  requestId: string | null;
  /** JSON text. */
  data: string;
}

/** Null if absent. */
export async function findEvent(db: Queryable, id: EventId): Promise<StoredEvent | null> {
  const [row] = await db<StoredEvent[]>`
    select e.id, o.slug as "organizationSlug", e.type, e.occurred_at as "occurredAt",
           moment_of(e.id) as "publishedAt", e.request_id as "requestId", e.data
      from events e
      join organizations o on o.id = e.organization_id
     where e.id = ${id}`;
  return row ?? null;
}

export interface TypeUse {
  type: string;
  subscriptions: number;
  lastPublishedAt: Date | null;
}

/** The newest events to search for the service's own types, which no index holds. */
const NEWEST_MAX = 10_000;

/** Returns the use of these types, in no particular order. Event ids carry the time of publishing. */
export async function listTypeUses(db: Queryable, types: string[]): Promise<TypeUse[]> {
  return db<TypeUse[]>`
    with listed as (
      select type, count(*)::int as subscriptions
        from subscriptions s
       cross join unnest(s.events) as type
       where s.deleted_at is null and s.auto_disabled_at is null and s.events && ${types}::text[]
       group by type
    ),
    newest as materialized (
      select id, type from events order by id desc limit ${NEWEST_MAX}
    )
    select t.type, coalesce(l.subscriptions, 0) as subscriptions, moment_of(e.id) as "lastPublishedAt"
      from unnest(${types}::text[]) as t (type)
      left join listed l on l.type = t.type
      left join lateral (
        (select id from events where type = t.type and type not like 'vc.%' order by id desc limit 1)
        union all
        (select id from newest where type = t.type and type like 'vc.%' order by id desc limit 1)
      ) e on true`;
}
