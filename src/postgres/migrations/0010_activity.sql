-- The rows behind the operators' charts. Each process writes its own rows, so none waits for another, and a row holds all
-- that its process has counted of it: to write it once more changes nothing.

create table activity_minutes (
  scope         uuid        not null,
  kind          text        not null check (kind in ('service', 'organization', 'subscription')),
  at            timestamptz not null,
  process_id    uuid        not null,
  published     integer     not null check (published >= 0),
  requests      integer     not null check (requests >= 0),
  rate_limited  integer     not null check (rate_limited between 0 and requests),
  succeeded     integer     not null check (succeeded >= 0),
  failed        integer     not null check (failed >= 0),
  duration_ms   bigint      not null check (duration_ms >= 0),
  delivered     integer     not null check (delivered >= 0),
  dead_lettered integer     not null check (dead_lettered >= 0),
  cancelled     integer     not null check (cancelled >= 0),
  disabled      integer     not null check (disabled >= 0),

  -- How often each reason, and each bucket of the two histograms, was counted.
  reasons       jsonb       not null check (pg_column_size(reasons) <= 16384),
  attempt_ms    jsonb       not null check (pg_column_size(attempt_ms) <= 16384),
  end_to_end_ms jsonb       not null check (pg_column_size(end_to_end_ms) <= 16384),

  primary key (scope, at, process_id)
) partition by range (at);

create index activity_minutes_by_time on activity_minutes (at);

create table activity_hours (like activity_minutes including all) partition by range (at);

create table activity_minutes_default partition of activity_minutes default;
create table activity_hours_default partition of activity_hours default;

-- The processes of the service, as each one reports itself.
create table processes (
  id                 uuid        primary key,
  role               text        not null check (role in ('all', 'api', 'dispatcher')),
  version            text        not null check (length(version) <= 100),
  host               text        not null check (length(host) <= 255),
  pid                integer     not null,
  started_at         timestamptz not null,
  last_seen_at       timestamptz not null,
  is_stopping        boolean     not null,
  -- Null unless the process said that it ends.
  ended_at           timestamptz,
  last_recorded_at   timestamptz,
  attempts_under_way integer     not null check (attempts_under_way >= 0),
  organizations      jsonb       not null check (pg_column_size(organizations) <= 4096),
  slowed             jsonb       not null check (pg_column_size(slowed) <= 16384),
  problems           jsonb       not null check (pg_column_size(problems) <= 16384)
) with (fillfactor = 50);

-- The partitioned tables, and the column that divides each.
create or replace view history as
  select relation::regclass, keyed_by_id, key
    from (values ('events', true, 'id'), ('attempts', true, 'id'), ('finished_deliveries', false, 'finished_at'),
                 ('activity_minutes', false, 'at'), ('activity_hours', false, 'at')) as t (relation, keyed_by_id, key);

create or replace function move_strays(parent text) returns boolean
language plpgsql security definer as $$
declare
  relation constant regclass := parent;
  keyed_by_id constant boolean := (select h.keyed_by_id from history h where h.relation = parent::regclass);
  key constant text := (select h.key from history h where h.relation = parent::regclass);
  strays constant text := parent || '_default';
  moment constant text := case when keyed_by_id then format('moment_of(%I)', key) else key end;
  first_at timestamptz;
  next_at timestamptz;
  since timestamptz;
  until timestamptz;
  part text;
begin
  perform lock_partitions();
  execute format('select %s from %I order by %I limit 1', moment, strays, key) into first_at;
  if first_at is null then
    return false;
  end if;
  first_at := date_trunc('milliseconds', first_at);

  select greatest(period_at(first_at), max(p.until)) into since from history_partitions p
   where p.relation = parent::regclass and p.until <= first_at;
  select least(period_at(first_at) + partition_width(), min(p.since)) into until from history_partitions p
   where p.relation = parent::regclass and p.since > first_at;
  execute format('select %s from %I where %3$I < %4$L order by %3$I offset 5000 limit 1',
    moment, strays, key, bound_at(keyed_by_id, until))
    into next_at;
  if next_at is not null then
    until := greatest(date_trunc('milliseconds', next_at), first_at + interval '1 millisecond');
  end if;

  part := partition_name(relation, since);
  -- What writes a row then waits, and finds the new partition. Without the lock it would find that its row has no place.
  execute format('lock table only %I in access exclusive mode', parent);
  execute format('create table %I (like %I including all)', part, parent);
  execute format('with moved as (delete from %I where %3$I < %4$L returning *) insert into %2$I select * from moved',
    strays, part, key, bound_at(keyed_by_id, until));
  execute format('alter table %I attach partition %I for values from (%L) to (%L)',
    parent, part, bound_at(keyed_by_id, since), bound_at(keyed_by_id, until));
  return true;
end
$$;

-- Drops one partition of minutes that have all become hours, and returns how many: call it again, in a new transaction,
-- until it is none.
create function drop_rolled_up_minutes(moment timestamptz) returns integer
language plpgsql security definer as $$
declare
  horizon constant timestamptz := least(moment, clock_timestamp()) - interval '48 hours';
  part regclass;
begin
  perform lock_partitions();
  select rolled_up into part from rolled_up_partitions(horizon) as rolled_up limit 1;
  if part is null then
    return 0;
  end if;
  lock table only activity_minutes in access exclusive mode;
  -- Once more: what wrote a row has read the partition, and is committed now or still to come.
  if not exists (select from rolled_up_partitions(horizon) as rolled_up where rolled_up = part) then
    return 0;
  end if;
  execute format('drop table %s', part);
  return 1;
end
$$;

create function rolled_up_partitions(horizon timestamptz) returns setof regclass
language sql stable as $$
  select p.partition
    from history_partitions p
   where p.relation = 'activity_minutes'::regclass and p.until <= horizon
     and not exists (select from activity_minutes a where a.at >= p.since and a.at < p.until)
$$;

do $$
begin
  execute format('alter function move_strays set search_path = %I, pg_temp', current_schema());
  execute format('alter function drop_rolled_up_minutes set search_path = %I, pg_temp', current_schema());
end
$$;

revoke execute on function rolled_up_partitions, drop_rolled_up_minutes from public;
