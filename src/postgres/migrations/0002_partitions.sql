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

-- Fills every gap in the time around `moment`, so that a process whose clock ran ahead keeps nobody from a partition.
create function create_partitions(moment timestamptz) returns void
language plpgsql security definer as $$
declare
  width constant interval := partition_width();
  part record;
  start_at timestamptz;
  end_at timestamptz;
begin
  perform pg_advisory_xact_lock(hashtext('partner-api partitions'));
  for part in select * from history loop
    start_at := to_timestamp(
      floor(extract(epoch from moment) / extract(epoch from width)) * extract(epoch from width));
    while start_at < moment + 3 * width loop
      select p.until into end_at from history_partitions p
       where p.relation = part.relation and p.since <= start_at and p.until > start_at;
      if not found then
        select least(start_at + width, min(p.since)) into end_at from history_partitions p
         where p.relation = part.relation and p.since > start_at;
        perform create_partition(part.relation, part.keyed_by_id, start_at, end_at);
      end if;
      start_at := end_at;
    end loop;
  end loop;
end
$$;

-- Drops what is older than the retention by the database's own clock, whatever `moment` the caller says.
-- An event stays as long as anything refers to it.
create function drop_expired_partitions(moment timestamptz) returns integer
language plpgsql security definer as $$
declare
  horizon constant timestamptz := least(moment, clock_timestamp()) - retention();
  dropped integer := 0;
begin
  if horizon is null then -- `least` would pass over it.
    raise exception 'nobody has written down how long history is kept';
  end if;
  perform pg_advisory_xact_lock(hashtext('partner-api partitions'));
  dropped := dropped + drop_partitions_until('finished_deliveries', horizon);
  dropped := dropped + drop_partitions_until('attempts', horizon);
  delete from finished_deliveries_default where finished_at < horizon;
  delete from attempts_default where id < first_id_at(horizon);

  lock table waiting_deliveries in share row exclusive mode;
  dropped := dropped + drop_partitions_until('events', least(horizon,
    moment_of((select event_id from waiting_deliveries order by event_id limit 1)),
    moment_of((select event_id from finished_deliveries order by event_id limit 1))));
  delete from events_default e
   where e.id < first_id_at(horizon)
     and not exists (select from waiting_deliveries w where w.event_id = e.id)
     and not exists (select from finished_deliveries f where f.event_id = e.id);

  delete from subscriptions s
   where s.deleted_at < horizon
     and not exists (select from waiting_deliveries w where w.subscription_id = s.id)
     and not exists (select from finished_deliveries f where f.subscription_id = s.id);
  return dropped;
end
$$;

create function drop_partitions_until(parent regclass, horizon timestamptz) returns integer
language plpgsql as $$
declare
  part record;
  dropped integer := 0;
begin
  for part in select * from history_partitions p where p.relation = parent and p.until <= horizon loop
    execute format('drop table %s', part.partition);
    dropped := dropped + 1;
  end loop;
  return dropped;
end
$$;

-- What runs with the owner's rights must not be led astray by a caller: unless the path names it, a caller's own
-- temporary tables come first, and one of those could tell another retention.
do $$
begin
  execute format('alter function create_partitions set search_path = %I, pg_temp', current_schema());
  execute format('alter function drop_expired_partitions set search_path = %I, pg_temp', current_schema());
end
$$;

-- Whoever may call these is told one by one.
revoke execute on function create_partition, create_partitions, drop_partitions_until, drop_expired_partitions
  from public;
