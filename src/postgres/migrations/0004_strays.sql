-- Strays are rows in a default partition: nobody made a partition in time. They move into one, a part at a time.

create index attempts_default_by_id on attempts_default (id);
create index finished_deliveries_default_by_time on finished_deliveries_default (finished_at);

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

create or replace function create_partition(relation regclass, keyed_by_id boolean, since timestamptz, until timestamptz)
returns void language plpgsql as $$
begin
  execute format('create table %I partition of %s for values from (%L) to (%L)',
    partition_name(relation, since), relation, bound_at(keyed_by_id, since), bound_at(keyed_by_id, until));
exception
  when check_violation then raise warning 'strays of % keep the partition of % from being made: move them first', relation, since;
end
$$;

create or replace function create_partitions(parent text, moment timestamptz) returns void
language plpgsql security definer as $$
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

-- Moves the oldest strays of a table into a partition of their own. Returns whether there were any: call it again, in a new
-- transaction, until there are none. The partition is as short as it must be to take 5,000 rows at most, unless more share
-- a millisecond, and as long as a period otherwise.
create function move_strays(parent text) returns boolean
language plpgsql security definer as $$
declare
  relation constant regclass := parent;
  keyed_by_id constant boolean := (select h.keyed_by_id from history h where h.relation = parent::regclass);
  strays constant text := parent || '_default';
  key constant text := case when keyed_by_id then 'id' else 'finished_at' end;
  moment constant text := case when keyed_by_id then 'moment_of(id)' else 'finished_at' end;
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

-- Deletes subscriptions that were deleted before the retention, as far as nothing refers to them, and returns how many: call
-- it again, in a new transaction, until it is none.
drop function delete_expired_rows(timestamptz);
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
        and not exists (select from finished_deliveries f where f.subscription_id = s.id)
      limit 1000);
  get diagnostics deleted = row_count;
  return deleted;
end
$$;

do $$
begin
  execute format('alter function create_partitions set search_path = %I, pg_temp', current_schema());
  execute format('alter function move_strays set search_path = %I, pg_temp', current_schema());
  execute format('alter function delete_expired_rows set search_path = %I, pg_temp', current_schema());
end
$$;

revoke execute on function period_at, partition_name, bound_at, move_strays, delete_expired_rows from public;
