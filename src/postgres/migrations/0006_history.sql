-- Deliveries that ended, and attempts that failed. Both are kept in partitions by time, which are dropped as a whole.

create table finished_deliveries (
  id              uuid        not null,
  event_id        uuid        not null,
  subscription_id uuid        not null,
  organization_id uuid        not null,
  created_at      timestamptz not null,
  finished_at     timestamptz not null,
  state           text        not null check (state in ('delivered', 'dead_lettered', 'cancelled')),
  attempts        smallint    not null check (attempts >= 0),
  last_reason     text        check (length(last_reason) <= 40),

  -- The attempt that delivered it. It needs no row of its own: nearly every delivery has this one alone.
  success_id          uuid,
  success_http_status smallint check (success_http_status between 200 and 299),
  success_duration_ms integer  check (success_duration_ms >= 0),

  -- The lease under which an attempt was under way when the delivery was cancelled.
  lease_id        uuid        check (lease_id is null or state = 'cancelled'),

  primary key (id, finished_at),
  check (num_nonnulls(success_id, success_http_status, success_duration_ms) = case state when 'delivered' then 3 else 0 end)
) partition by range (finished_at);

-- The deliveries of an event. Without it, nothing could tell that an event is needed no more.
create index finished_deliveries_of_event on finished_deliveries (event_id);
-- Searches by operators, newest first. Trouble is rare, so it has indexes of its own for each way of asking: they cost a
-- delivered delivery nothing.
create index finished_deliveries_of_subscription on finished_deliveries (subscription_id, id desc);
create index finished_deliveries_in_trouble on finished_deliveries (state, id desc) where state <> 'delivered';
create index finished_deliveries_in_trouble_of_subscription
  on finished_deliveries (subscription_id, state, id desc) where state <> 'delivered';
-- An organization may have had too many subscriptions to search each.
create index finished_deliveries_in_trouble_of_organization
  on finished_deliveries (organization_id, state, id desc) where state <> 'delivered';
create index finished_deliveries_of_reason on finished_deliveries (last_reason, id desc) where last_reason is not null;
create index finished_deliveries_of_reason_of_subscription
  on finished_deliveries (subscription_id, last_reason, id desc) where last_reason is not null;
-- A success is found by the id of its attempt, which says when to look. It costs next to nothing, because times rise as rows come.
create index finished_deliveries_by_age on finished_deliveries using brin (finished_at)
  with (pages_per_range = 16, autosummarize = on);

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
create index finished_deliveries_default_by_time on finished_deliveries_default (finished_at);
create index attempts_default_by_id on attempts_default (id);

-- Every attempt that came to an outcome.
create view audit as
  select id, delivery_id, subscription_id, event_id, event_type, attempt, http_status, reason, dead_lettered,
         duration_ms, attempted_at, next_attempt_at, detail
    from attempts
  union all
  select success_id, id, subscription_id, event_id, (select type from events e where e.id = event_id limit 1), attempts,
         success_http_status, null, false, success_duration_ms, moment_of(success_id), null, null
    from finished_deliveries
   where state = 'delivered';

-- Turns deliveries that were cancelled during an attempt into delivered ones, because the receivers have acknowledged them. Returns
-- the attempts. The service cannot change the state of a finished delivery in any other way.
create function record_late_successes(
  attempt_ids uuid[], delivery_ids uuid[], lease_ids uuid[], http_statuses int[], durations_ms int[], begun_at timestamptz[],
  cancelled_since timestamptz
) returns setof uuid
language sql security definer as $$
  update finished_deliveries f
     set state = 'delivered', attempts = f.attempts + 1, lease_id = null,
         finished_at = e.begun_at + e.duration_ms * interval '1 millisecond',
         success_id = e.id, success_http_status = e.http_status, success_duration_ms = e.duration_ms
    from unnest(attempt_ids, delivery_ids, lease_ids, http_statuses, durations_ms, begun_at)
         as e (id, delivery_id, lease_id, http_status, duration_ms, begun_at)
   where f.id = e.delivery_id and f.lease_id = e.lease_id and f.state = 'cancelled' and f.finished_at >= cancelled_since
  returning f.success_id
$$;

do $$
begin
  execute format('alter function record_late_successes set search_path = %I, pg_temp', current_schema());
end
$$;

revoke execute on function record_late_successes from public;
