-- Deliveries that ended, and attempts that failed. Both are kept in partitions by time, which are dropped as a whole.

-- A row has at most eight columns, so that its header has room for their null bits. What follows from others is not stored: the
-- event and the time of creation from the id, and the attempt that delivered it from three columns (see attempt_id).
create table finished_deliveries (
  id              uuid        not null,
  finished_at     timestamptz not null,
  subscription_number integer not null,

  -- How it ended: 200 to 299 delivered, with this status of the receiver; 0 dead-lettered; 1 cancelled.
  ending          smallint    not null check (ending between 200 and 299 or ending in (0, 1)),
  attempts        smallint    not null check (attempts between 0 and 4095),
  -- Of the attempt that delivered it. It needs no row of its own: nearly every delivery has this one alone.
  duration_ms     integer     check (duration_ms >= 0),
  last_reason     text        check (length(last_reason) <= 40),
  -- The organization of one that was not delivered, for an index. Of any other, the subscription says it.
  troubled_organization_id uuid,

  check ((ending >= 200) = (duration_ms is not null) and (ending >= 200) = (troubled_organization_id is null))
) partition by range (finished_at);

-- A delivery by its id, the deliveries of an event, and all, newest first. Deliveries end nearly in the order of their ids: a page
-- that is split at 70 % has room for those that come late.
create index finished_deliveries_by_id on finished_deliveries (time_of(id)) with (fillfactor = 70);
-- The deliveries of a subscription, newest first. A search reads the whole second that a page begins or ends in.
create index finished_deliveries_of_subscription on finished_deliveries (subscription_number, second_of(id));
-- Trouble is rare, so it has indexes of its own for each way of asking: they cost a delivered delivery nothing.
create index finished_deliveries_in_trouble on finished_deliveries (ending, time_of(id)) where ending < 200;
create index finished_deliveries_in_trouble_of_subscription
  on finished_deliveries (subscription_number, ending, second_of(id)) where ending < 200;
-- An organization may have had too many subscriptions to search each.
create index finished_deliveries_in_trouble_of_organization
  on finished_deliveries (troubled_organization_id, ending, time_of(id)) where ending < 200;
create index finished_deliveries_of_reason on finished_deliveries (last_reason, time_of(id)) where last_reason is not null;
create index finished_deliveries_of_reason_of_subscription
  on finished_deliveries (subscription_number, last_reason, second_of(id)) where last_reason is not null;
-- A success is found by the id of its attempt, which says when to look. It costs next to nothing, because times rise as rows come.
create index finished_deliveries_by_age on finished_deliveries using brin (finished_at)
  with (pages_per_range = 16, autosummarize = on);

-- The leases under which attempts were under way when their deliveries were cancelled. Such an attempt can still be recorded.
create table cancelled_leases (
  delivery_id  uuid        primary key,
  lease_id     uuid        not null,
  cancelled_at timestamptz not null
);

-- One row for each attempt that came to an outcome, except those that delivered. The id carries the time of the start.
create table attempts (
  id              uuid        not null,
  delivery_id     uuid        not null,
  subscription_id uuid        not null,
  event_id        uuid        not null,
  event_type      text        not null check (length(event_type) <= 100),
  attempt         smallint    not null check (attempt > 0),
  http_status     smallint    not null check (http_status between 0 and 999),
  reason          text        check (length(reason) <= 40),
  -- What there is to add to the reason, such as certificate_expired.
  detail          text        check (length(detail) <= 40),
  dead_lettered   boolean     not null,
  duration_ms     integer     not null check (duration_ms >= 0),
  attempted_at    timestamptz not null,
  next_attempt_at timestamptz,

  primary key (delivery_id, id),
  check (not dead_lettered or (reason is not null and next_attempt_at is null))
) partition by range (id);

-- The failures audit of a partner, newest first.
create index failures_of_subscription on attempts (subscription_id, id desc) where reason is not null;
-- An attempt by its id alone, at next to no cost for those who write: ids rise as rows come.
create index attempts_by_age on attempts using brin (id uuid_minmax_ops) with (pages_per_range = 16, autosummarize = on);

-- Where rows go for which no partition was made in time. The indexes find the oldest of them.
create table finished_deliveries_default partition of finished_deliveries default;
create table attempts_default partition of attempts default;
alter table finished_deliveries_default replica identity full; -- See equip_partition.
create index finished_deliveries_default_by_time on finished_deliveries_default (finished_at);
create index attempts_default_by_id on attempts_default (id);

-- The id of an attempt: the millisecond of its start, its number, and the last eight bytes of its delivery.
create function attempt_id(delivery uuid, number integer, started_at timestamptz) returns uuid
language sql immutable as $$
  select (left(first_id_at(started_at)::text, 14) || '7' || lpad(to_hex(number), 3, '0') || substr(delivery::text, 19))::uuid
$$;

-- Finished deliveries in full. Conditions on `time_of(id)` and `ending`, or on `subscription_number` and `second_of(id)`, find them by
-- an index.
create view finished as
  select id, subscription_number, ending, attempts, last_reason, finished_at, duration_ms, moment_of(id) as created_at,
         case ending when 0 then 'dead_lettered' when 1 then 'cancelled' else 'delivered' end as state,
         case when is_redelivery(id) then (select m.event_id from redelivery_marks m where m.redelivery_id = id)
              else event_of(id) end as event_id,
         (select s.id from subscriptions s where s.number = subscription_number) as subscription_id,
         (select s.organization_id from subscriptions s where s.number = subscription_number) as organization_id,
         attempt_id(id, attempts, finished_at - duration_ms * interval '1 ms') as success_id
    from finished_deliveries;

-- Every attempt that came to an outcome.
create view audit as
  select id, delivery_id, subscription_id, event_id, event_type, attempt, http_status, reason, dead_lettered,
         duration_ms, attempted_at, next_attempt_at, detail
    from attempts
  union all
  select success_id, id, subscription_id, event_id, (select type from events e where e.id = event_id limit 1), attempts,
         ending, null, false, duration_ms, finished_at - duration_ms * interval '1 ms', null, null
    from finished
   where ending >= 200;

-- Turns deliveries that were cancelled during an attempt into delivered ones, because the receivers have acknowledged them. Returns
-- the attempts. The service cannot change the state of a finished delivery in any other way.
create function record_late_successes(
  attempt_ids uuid[], delivery_ids uuid[], lease_ids uuid[], http_statuses int[], durations_ms int[], begun_at timestamptz[],
  cancelled_since timestamptz
) returns setof uuid
language sql security definer as $$
  with taken as (
    delete from cancelled_leases l
     using unnest(attempt_ids, delivery_ids, lease_ids, http_statuses, durations_ms, begun_at)
           as e (id, delivery_id, lease_id, http_status, duration_ms, begun_at)
     where l.delivery_id = e.delivery_id and l.lease_id = e.lease_id
    returning e.*
  )
  update finished_deliveries f
     set ending = t.http_status, attempts = f.attempts + 1, duration_ms = t.duration_ms, troubled_organization_id = null,
         finished_at = t.begun_at + t.duration_ms * interval '1 millisecond'
    from taken t
   where time_of(f.id) = time_of(t.delivery_id) and f.id = t.delivery_id and f.ending = 1 and f.finished_at >= cancelled_since
  returning t.id
$$;

do $$
begin
  execute format('alter function record_late_successes set search_path = %I, pg_temp', current_schema());
end
$$;

revoke execute on function record_late_successes from public;
