-- Partitions come and go through these functions, so that the service's own role need not be able to alter or drop.

-- The smallest UUIDv7 of a moment.
create function first_id_at(moment timestamptz) returns uuid
language sql immutable as $$
  select (lpad(to_hex(floor(extract(epoch from moment) * 1000)::bigint), 12, '0')
          || '00000000000000000000')::uuid
$$;

-- The moment that a UUIDv7 carries.
create function moment_of(id uuid) returns timestamptz
language sql immutable as $$
  select to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
$$;

-- Every attempt that came to an outcome.
create view audit as
  select id, delivery_id, subscription_id, event_id, event_type, attempt, http_status, reason, dead_lettered,
         duration_ms, attempted_at, next_attempt_at
    from attempts
  union all
  select success_id, id, subscription_id, event_id, (select type from events e where e.id = event_id limit 1), attempts,
         success_http_status, null, false, success_duration_ms, moment_of(success_id), null
    from finished_deliveries
   where state = 'delivered';

create function retention() returns interval
language sql stable as $$
  select value::interval from settings where name = 'retention'
$$;

create function partition_width() returns interval
language sql stable as $$
  select least(greatest(retention() / 30, interval '1 minute'), interval '1 day')
$$;

-- The partitioned tables and what divides them.
create view history as
  select relation::regclass, keyed_by_id
    from (values ('events', true), ('attempts', true), ('finished_deliveries', false)) as t (relation, keyed_by_id);

create view history_partitions as
  select h.relation, h.keyed_by_id, c.oid::regclass as partition,
         case when h.keyed_by_id then moment_of(bound[1]::uuid) else bound[1]::timestamptz end as since,
         case when h.keyed_by_id then moment_of(bound[2]::uuid) else bound[2]::timestamptz end as until
    from history h
    join pg_inherits i on i.inhparent = h.relation
    join pg_class c on c.oid = i.inhrelid
   cross join lateral regexp_match(pg_get_expr(c.relpartbound, c.oid), $re$FROM \('(.+)'\) TO \('(.+)'\)$re$) as bound
   where bound is not null;

create function create_partition(relation regclass, keyed_by_id boolean, since timestamptz, until timestamptz)
returns void language plpgsql as $$
begin
  execute format('create table %I partition of %s for values from (%L) to (%L)',
    relation || to_char(since at time zone 'utc', '_YYYYMMDD_HH24MISS'), relation,
    case when keyed_by_id then first_id_at(since)::text else since::text end,
    case when keyed_by_id then first_id_at(until)::text else until::text end);
exception
  -- The default partition holds rows of that time already: they stay there.
  when check_violation then raise warning 'no partition of % for %: rows are there already', relation, since;
end
$$;

-- Fills every gap in one table's time around `moment`, so that a process whose clock ran ahead keeps nobody from a
-- partition. Call it, as what drops them, for one table in each transaction: who waits for one lock and holds no other is
-- part of no deadlock.
create function create_partitions(parent text, moment timestamptz) returns void
language plpgsql security definer as $$
declare
  width constant interval := partition_width();
  start_at timestamptz := to_timestamp(
    floor(extract(epoch from moment) / extract(epoch from width)) * extract(epoch from width));
  end_at timestamptz;
begin
  perform pg_advisory_xact_lock(hashtext('partner-api partitions'));
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

-- Only rows older than the retention by the database's clock. The caller's `moment` cannot shorten that.
create function horizon_at(moment timestamptz) returns timestamptz
language plpgsql stable as $$
begin
  if retention() is null then
    raise exception 'nobody has written down how long history is kept';
  end if;
  return least(moment, clock_timestamp()) - retention();
end
$$;

-- An event stays as long as anything refers to it.
create function expired_partitions(parent text, horizon timestamptz) returns setof regclass
language sql stable as $$
  select p.partition
    from history_partitions p
   where p.relation = parent::regclass and p.until <= horizon
     and (parent <> 'events'
          or not exists (select from waiting_deliveries w where w.event_id < first_id_at(p.until))
             and not exists (select from finished_deliveries f where f.event_id < first_id_at(p.until)))
$$;

-- Drops what has expired of one table. While there is nothing to drop, nothing is locked.
create function drop_expired_partitions(parent text, moment timestamptz) returns integer
language plpgsql security definer as $$
declare
  horizon constant timestamptz := horizon_at(moment);
  expired regclass[];
  part regclass;
begin
  perform pg_advisory_xact_lock(hashtext('partner-api partitions'));
  if not exists (select from expired_partitions(parent, horizon)) then
    return 0;
  end if;
  execute format('lock table %I in access exclusive mode', parent);
  -- Once more: whatever refers to an event has read it, and is committed now or still to come.
  expired := array(select expired_partitions(parent, horizon));
  foreach part in array expired loop
    execute format('drop table %s', part);
  end loop;
  return cardinality(expired);
end
$$;

-- Rows that have expired outside of partitions. Events are deleted while nobody can begin to refer to one.
create function delete_expired_rows(moment timestamptz) returns void
language plpgsql security definer as $$
declare
  horizon constant timestamptz := horizon_at(moment);
begin
  delete from finished_deliveries_default where finished_at < horizon;
  delete from attempts_default where id < first_id_at(horizon);
  if exists (select from events_default e where e.id < first_id_at(horizon)) then
    lock table waiting_deliveries in share row exclusive mode;
    delete from events_default e
     where e.id < first_id_at(horizon)
       and not exists (select from waiting_deliveries w where w.event_id = e.id)
       and not exists (select from finished_deliveries f where f.event_id = e.id);
  end if;
  delete from subscriptions s
   where s.deleted_at < horizon
     and not exists (select from waiting_deliveries w where w.subscription_id = s.id)
     and not exists (select from finished_deliveries f where f.subscription_id = s.id);
end
$$;

-- What runs with the owner's rights must not be led astray by a caller: unless the path names it, a caller's own
-- temporary tables come first, and one of those could tell another retention.
do $$
begin
  execute format('alter function create_partitions set search_path = %I, pg_temp', current_schema());
  execute format('alter function drop_expired_partitions set search_path = %I, pg_temp', current_schema());
  execute format('alter function delete_expired_rows set search_path = %I, pg_temp', current_schema());
end
$$;

-- The roles that may call these functions are listed one by one.
revoke execute
  on function create_partition, create_partitions, horizon_at, expired_partitions, drop_expired_partitions, delete_expired_rows
  from public;
