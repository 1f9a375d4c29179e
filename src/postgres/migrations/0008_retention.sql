-- Partitions come and go through these functions, so that the service's own role need not be able to alter or drop. What has
-- expired outside of partitions goes in the same way. A function that drops or moves does a bounded part: call it again, in a
-- new transaction, until it returns that nothing is left.

-- The partitioned tables, and the column that divides each: by a UUIDv7 or by a time.
create view history as
  select relation::regclass, keyed_by_id, key
    from (values ('events', true, 'id'), ('attempts', true, 'id'), ('finished_deliveries', false, 'finished_at'),
                 ('activity_minutes', false, 'at'), ('activity_hours', false, 'at')) as t (relation, keyed_by_id, key);

-- Their partitions, without the default ones.
create view history_partitions as
  select h.relation, h.keyed_by_id, c.oid::regclass as partition,
         case when h.keyed_by_id then moment_of(bound[1]::uuid) else bound[1]::timestamptz end as since,
         case when h.keyed_by_id then moment_of(bound[2]::uuid) else bound[2]::timestamptz end as until
    from history h
    join pg_inherits i on i.inhparent = h.relation
    join pg_class c on c.oid = i.inhrelid
   cross join lateral regexp_match(pg_get_expr(c.relpartbound, c.oid), $re$FROM \('(.+)'\) TO \('(.+)'\)$re$) as bound
   where bound is not null;

-- One process at a time looks after the partitions of a schema.
create function lock_partitions() returns void
language sql as $$
  select pg_advisory_xact_lock(hashtext('partner-api partitions of ' || current_schema()))
$$;

-- ## Partitions are made

create function partition_width() returns interval
language sql stable as $$
  select least(greatest(retention() / 30, interval '1 minute'), interval '1 day')
$$;

-- The start of the period that a moment lies in, where no other partition is in the way.
create function period_at(moment timestamptz) returns timestamptz
language sql stable as $$
  select to_timestamp(floor(extract(epoch from moment) / width) * width)
    from extract(epoch from partition_width()) as width
$$;

-- The name of a partition that begins at this moment.
create function partition_name(relation regclass, since timestamptz) returns text
language sql stable as $$
  select relation || to_char(since at time zone 'utc', '_YYYYMMDD_HH24MISS')
         || case when since = date_trunc('second', since) then '' else to_char(since, '_MS') end
$$;

-- Where a partition begins or ends, as its table is divided.
create function bound_at(keyed_by_id boolean, moment timestamptz) returns text
language sql stable as $$
  select case when keyed_by_id then first_id_at(moment)::text else moment::text end
$$;

-- Gives a new partition what it does not take over from its parent: the setting of statistics, and how a publication for all tables,
-- as for change data capture, identifies a row without a key. Without that, nothing could change or move.
create function equip_partition(relation regclass, part text) returns void
language plpgsql as $$
begin
  if relation = 'events'::regclass then
    execute format('alter table %I alter column data set statistics 0', part);
  elsif relation = 'finished_deliveries'::regclass then
    execute format('alter table %I replica identity full', part);
  end if;
end
$$;

create function create_partition(relation regclass, keyed_by_id boolean, since timestamptz, until timestamptz)
returns void language plpgsql as $$
begin
  execute format('create table %I partition of %s for values from (%L) to (%L)',
    partition_name(relation, since), relation, bound_at(keyed_by_id, since), bound_at(keyed_by_id, until));
  perform equip_partition(relation, partition_name(relation, since));
exception
  when check_violation then raise warning 'strays of % keep the partition of % from being made: move them first', relation, since;
end
$$;

-- Fills every gap in one table's time around `moment`, so that a process whose clock ran ahead keeps nobody from a
-- partition. Call it, as what drops them, for one table in each transaction: who waits for one lock and holds no other is
-- part of no deadlock.
create function create_partitions(parent text, moment timestamptz) returns void
language plpgsql security definer
set datestyle = 'ISO, MDY' set intervalstyle = postgres set timezone = 'UTC' set quote_all_identifiers = off
set default_table_access_method = heap
as $$
declare
  width constant interval := partition_width();
  start_at timestamptz := period_at(moment);
  end_at timestamptz;
begin
  perform lock_partitions();
  while start_at < moment + 3 * width loop
    select p.until into end_at from history_partitions p
     where p.relation = parent::regclass and p.since <= start_at and p.until > start_at;
    if not found then
      select least(start_at + width, min(p.since)) into end_at from history_partitions p
       where p.relation = parent::regclass and p.since > start_at;
      perform create_partition(h.relation, h.keyed_by_id, start_at, end_at)
         from history h where h.relation = parent::regclass;
    end if;
    start_at := end_at;
  end loop;
end
$$;

-- ## Strays: rows in a default partition, because no partition was made in time

-- Moves the oldest strays of a table into a partition of their own. Returns whether there were any. The partition is as short as it
-- must be to take 5,000 rows at most, unless more share a millisecond, and as long as a period otherwise.
create function move_strays(parent text) returns boolean
language plpgsql security definer
set datestyle = 'ISO, MDY' set intervalstyle = postgres set timezone = 'UTC' set quote_all_identifiers = off
set default_table_access_method = heap
as $$
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
    if adopt_strays(parent, since) then
      return true;
    end if;
    until := greatest(date_trunc('milliseconds', next_at), first_at + interval '1 millisecond');
  end if;

  part := partition_name(relation, since);
  -- What writes a row then waits, and finds the new partition. Without the lock it would find that its row has no place.
  execute format('lock table only %I in access exclusive mode', parent);
  execute format('create table %I (like %I including all)', part, parent);
  perform equip_partition(relation, part);
  execute format('with moved as (delete from %I where %3$I < %4$L returning *) insert into %2$I select * from moved',
    strays, part, key, bound_at(keyed_by_id, until));
  execute format('alter table %I attach partition %I for values from (%L) to (%L)',
    parent, part, bound_at(keyed_by_id, since), bound_at(keyed_by_id, until));
  return true;
end
$$;

-- Many strays stay where they are. PostgreSQL reads a whole default partition, under a lock, for each partition that is made
-- beside it. So, instead of moving strays a part at a time, this makes the default partition the partition of the time from
-- `first_at` to the end of the present period, or to the next partition, and an empty one takes its place: the strays are read
-- once. Up to 5,000 strays of later times move into the new default partition. Returns false, and changes nothing, if
-- there are at most 50,000 strays in all, or more of later times.
create function adopt_strays(parent text, first_at timestamptz) returns boolean
language plpgsql as $$
declare
  relation constant regclass := parent;
  keyed_by_id constant boolean := (select h.keyed_by_id from history h where h.relation = parent::regclass);
  key constant text := (select h.key from history h where h.relation = parent::regclass);
  strays constant text := parent || '_default';
  part constant text := partition_name(parent::regclass, first_at);
  moment constant text := case when keyed_by_id then format('moment_of(%I)', key) else key end;
  last_at timestamptz;
  end_at timestamptz;
  is_more boolean;
begin
  execute format('select exists (select from %I order by %I offset 50000 limit 1)', strays, key) into is_more;
  if not is_more then
    return false;
  end if;
  execute format('select %s from %I where %3$I < %4$L order by %3$I desc limit 1',
    moment, strays, key, bound_at(keyed_by_id, period_at(clock_timestamp()) + partition_width()))
    into last_at;
  if last_at is null then
    return false;
  end if;
  select least(period_at(last_at) + partition_width(), min(p.since)) into end_at from history_partitions p
   where p.relation = parent::regclass and p.since > first_at;
  execute format('select exists (select from %I where %2$I >= %3$L order by %2$I offset 5000 limit 1)',
    strays, key, bound_at(keyed_by_id, end_at))
    into is_more;
  if is_more then
    return false;
  end if;

  execute format('lock table only %I in access exclusive mode', parent);
  execute format('alter table %I detach partition %I', parent, strays);
  execute format('alter table %I rename to %I', strays, part);
  execute format('create table %I (like %I including all)', strays, part);
  perform equip_partition(relation, strays);
  execute format('with later as (delete from %I where %3$I >= %4$L returning *) insert into %2$I select * from later',
    part, strays, key, bound_at(keyed_by_id, end_at));
  execute format('alter table %I attach partition %I default', parent, strays);
  execute format('alter table %I attach partition %I for values from (%L) to (%L)',
    parent, part, bound_at(keyed_by_id, first_at), bound_at(keyed_by_id, end_at));
  return true;
end
$$;

-- ## History expires

-- Only rows older than the retention by the database's clock expire. The caller's `moment` cannot shorten that.
create function horizon_at(moment timestamptz) returns timestamptz
language plpgsql stable as $$
begin
  if retention() is null then
    raise exception 'nobody has written down how long history is kept';
  end if;
  return least(moment, clock_timestamp()) - retention();
end
$$;

-- Whether a delivery may refer to an event of this period: it was made in it, or later for such an event.
create function refers_to_events(since timestamptz, until timestamptz) returns boolean
language sql stable as $$
  select exists (select from waiting_deliveries w
                  where w.id >= first_id_at(since) and w.id < first_id_at(until))
      or exists (select from finished_deliveries f
                  where time_of(f.id) >= time_of(first_id_at(since)) and time_of(f.id) < time_of(first_id_at(until)))
      or exists (select from redelivery_marks m
                  where m.event_id >= first_id_at(since) and m.event_id < first_id_at(until))
$$;

-- An event stays as long as anything refers to it.
create function expired_partitions(parent text, horizon timestamptz) returns setof regclass
language sql stable as $$
  select p.partition
    from history_partitions p
   where p.relation = parent::regclass and p.until <= horizon
     and (parent <> 'events' or not refers_to_events(p.since, p.until))
$$;

-- Drops one expired partition of a table, and returns how many. While there is nothing to drop, nothing is locked.
create function drop_expired_partitions(parent text, moment timestamptz) returns integer
language plpgsql security definer
set datestyle = 'ISO, MDY' set intervalstyle = postgres set timezone = 'UTC' set quote_all_identifiers = off
set default_table_access_method = heap
as $$
declare
  horizon constant timestamptz := horizon_at(moment);
  part regclass;
begin
  perform lock_partitions();
  select expired into part from expired_partitions(parent, horizon) as expired limit 1;
  if part is null then
    return 0;
  end if;
  -- A session that uses a partition holds a lock on its table, too.
  execute format('lock table only %I in access exclusive mode', parent);
  -- Once more: what refers to an event has read it, and is committed now or still to come.
  if not exists (select from expired_partitions(parent, horizon) as expired where expired = part) then
    return 0;
  end if;
  execute format('drop table %s', part);
  return 1;
end
$$;

-- Minutes that have all become hours.
create function rolled_up_partitions(horizon timestamptz) returns setof regclass
language sql stable as $$
  select p.partition
    from history_partitions p
   where p.relation = 'activity_minutes'::regclass and p.until <= horizon
     and not exists (select from activity_minutes a where a.at >= p.since and a.at < p.until)
$$;

-- Drops one partition of them, and returns how many.
create function drop_rolled_up_minutes(moment timestamptz) returns integer
language plpgsql security definer
set datestyle = 'ISO, MDY' set intervalstyle = postgres set timezone = 'UTC' set quote_all_identifiers = off
set default_table_access_method = heap
as $$
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

-- Deletes subscriptions that were deleted before the retention, as far as nothing refers to them, and returns how many. A partition
-- that waits for its export may refer to any.
create function delete_expired_rows(moment timestamptz) returns integer
language plpgsql security definer as $$
declare
  horizon constant timestamptz := horizon_at(moment);
  deleted integer;
begin
  delete from subscriptions
   where id in (
     select s.id from subscriptions s
      where s.deleted_at < horizon
        and not exists (select from waiting_deliveries w where w.subscription_id = s.id)
        and not exists (select from finished_deliveries f where f.subscription_number = s.number)
        and not exists (select from history_exports e where e.partition like 'finished%')
      limit 1000);
  get diagnostics deleted = row_count;
  return deleted;
end
$$;

-- Deletes marks that are older than the retention and whose redelivery is gone, and returns how many.
create function delete_expired_marks(moment timestamptz) returns integer
language plpgsql security definer as $$
declare
  deleted integer;
begin
  delete from redelivery_marks
   where redelivery_id in (
     select m.redelivery_id
       from redelivery_marks m
      where m.redelivery_id < first_id_at(horizon_at(moment))
        and not exists (select from waiting_deliveries w where w.id = m.redelivery_id)
        and not exists (
          select from finished_deliveries f where time_of(f.id) = time_of(m.redelivery_id) and f.id = m.redelivery_id)
      limit 5000);
  get diagnostics deleted = row_count;
  return deleted;
end
$$;

-- Deletes leases whose attempts never ended, and returns how many.
create function delete_expired_leases(moment timestamptz) returns integer
language plpgsql security definer as $$
declare
  deleted integer;
begin
  delete from cancelled_leases
   where delivery_id in (select delivery_id from cancelled_leases where cancelled_at < horizon_at(moment) limit 5000);
  get diagnostics deleted = row_count;
  return deleted;
end
$$;

-- ## History is exported before it is dropped

-- Partitions that have expired and are detached. Each is dropped once a command has exported it.
create table history_exports (
  partition     text        primary key check (length(partition) <= 63),
  -- The end of the time that its rows are of.
  until         timestamptz not null,
  lease_id      uuid,
  -- The end of the lease. Without a lease, the time of the next try.
  next_at       timestamptz not null,
  failures      integer     not null default 0 check (failures >= 0),
  failing_since timestamptz,
  last_failure  text        check (length(last_failure) <= 200),

  check ((failures > 0) = (failing_since is not null) and (failures > 0) = (last_failure is not null))
);

create function detachable_partitions(parent text, horizon timestamptz)
returns table (partition regclass, until timestamptz, detached text)
language sql stable as $$
  select p.partition, p.until, c.relname || '_expired'
    from expired_partitions(parent, horizon) as expired
    join history_partitions p on p.partition = expired
    join pg_class c on c.oid = expired
   where not exists (select from history_exports e where e.partition = c.relname || '_expired')
$$;

-- Detaches one expired partition of a table and returns how many. It gets a name of its own, because a stray may need a
-- partition for the same time.
create function detach_expired_partition(parent text, moment timestamptz) returns integer
language plpgsql security definer
set datestyle = 'ISO, MDY' set intervalstyle = postgres set timezone = 'UTC' set quote_all_identifiers = off
set default_table_access_method = heap
as $$
declare
  horizon constant timestamptz := horizon_at(moment);
  part record;
begin
  perform lock_partitions();
  select * into part from detachable_partitions(parent, horizon) limit 1;
  if not found then
    return 0;
  end if;
  execute format('lock table only %I in access exclusive mode', parent);
  -- Once more: what refers to an event has read it, and is committed now or still to come.
  if not exists (select from detachable_partitions(parent, horizon) d where d.partition = part.partition) then
    return 0;
  end if;
  execute format('alter table %I detach partition %s', parent, part.partition);
  execute format('alter table %s rename to %I', part.partition, part.detached);
  insert into history_exports (partition, until, next_at) values (part.detached, part.until, least(moment, clock_timestamp()));
  return 1;
end
$$;

-- Lets the caller's role, and the one that it has taken on by SET ROLE, read a partition that waits for its export. Its parent's rights
-- do not hold for it any more. If the owner has dropped the table, it does not wait any more, and the result is false.
create function permit_export(detached text) returns boolean
language plpgsql security definer
set datestyle = 'ISO, MDY' set intervalstyle = postgres set timezone = 'UTC' set quote_all_identifiers = off
set default_table_access_method = heap
as $$
begin
  if to_regclass(format('%I', detached)) is null then
    delete from history_exports e where e.partition = detached;
    return false;
  end if;
  if not exists (select from history_exports e where e.partition = detached) then
    return false;
  end if;
  execute format('grant select on %I to %I, %I', detached, session_user, coalesce(nullif(current_setting('role'), 'none'), session_user));
  return true;
end
$$;

-- Drops a partition whose export has succeeded under this lease. Returns false if the lease is lost, or if the partition is
-- younger than the retention.
create function drop_exported_partition(detached text, lease uuid, moment timestamptz) returns boolean
language plpgsql security definer
set datestyle = 'ISO, MDY' set intervalstyle = postgres set timezone = 'UTC' set quote_all_identifiers = off
set default_table_access_method = heap
as $$
begin
  delete from history_exports e
   where e.partition = detached and e.lease_id = lease and e.until <= horizon_at(moment);
  if not found then
    return false;
  end if;
  execute format('drop table %I', detached);
  return true;
end
$$;

-- What runs with the owner's rights must not be led astray by a caller: unless the path names it, a caller's own
-- temporary tables come first, and one of those could tell another retention.
do $$
begin
  execute format('alter function create_partitions set search_path = %I, pg_temp', current_schema());
  execute format('alter function move_strays set search_path = %I, pg_temp', current_schema());
  execute format('alter function drop_expired_partitions set search_path = %I, pg_temp', current_schema());
  execute format('alter function drop_rolled_up_minutes set search_path = %I, pg_temp', current_schema());
  execute format('alter function delete_expired_marks set search_path = %I, pg_temp', current_schema());
  execute format('alter function delete_expired_leases set search_path = %I, pg_temp', current_schema());
  execute format('alter function delete_expired_rows set search_path = %I, pg_temp', current_schema());
  execute format('alter function detach_expired_partition set search_path = %I, pg_temp', current_schema());
  execute format('alter function permit_export set search_path = %I, pg_temp', current_schema());
  execute format('alter function drop_exported_partition set search_path = %I, pg_temp', current_schema());
end
$$;

-- The roles that may call these functions are listed one by one.
revoke execute
  on function lock_partitions, period_at, partition_name, bound_at, equip_partition, create_partition, create_partitions, move_strays, adopt_strays,
              horizon_at, refers_to_events, expired_partitions, drop_expired_partitions, rolled_up_partitions,
              drop_rolled_up_minutes, delete_expired_rows, delete_expired_marks, delete_expired_leases, detachable_partitions, detach_expired_partition, permit_export,
              drop_exported_partition
  from public;
